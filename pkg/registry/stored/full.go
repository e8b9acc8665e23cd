/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stored

import (
	"context"
	"errors"
	"net/http"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
)

// ReasonStorageFull is the reason of the error of a write for which etcd has no space.
// Kubernetes has none for this.
const ReasonStorageFull metav1.StatusReason = "InsufficientStorage"

// fullMessage says what to do, to a user who may not be the operator. It is true of
// an etcd of the operator's as well.
const fullMessage = "the database of the inference-cache API server is full: it takes no writes, but reads and deletions go on. " +
	"Space of old versions is regained within seconds if etcd is embedded, so try again. If that does not help, delete objects that are not needed, " +
	"or let the operator raise the quota: --embedded-etcd-quota-bytes, or --quota-backend-bytes of a separate etcd, which has to be compacted, " +
	"defragmented and freed of its alarm as well"

// explained is a storage whose writes say what to do when etcd is full. It is safe
// for concurrent use, as what it wraps is.
type explained struct{ storage.Interface }

// explainFull returns a decorator whose storages explain that etcd is full.
func explainFull(decorate generic.StorageDecorator) generic.StorageDecorator {
	return func(config *storagebackend.ConfigForResource, prefix string, keyFunc func(runtime.Object) (string, error),
		newFunc, newListFunc func() runtime.Object, attrs storage.AttrFunc, trigger storage.IndexerFuncs, indexers *cache.Indexers,
	) (storage.Interface, factory.DestroyFunc, error) {
		inner, destroy, err := decorate(config, prefix, keyFunc, newFunc, newListFunc, attrs, trigger, indexers)
		if err != nil {
			return nil, nil, err
		}
		return explained{inner}, destroy, nil
	}
}

// Create implements storage.Interface.
func (s explained) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	return explain(s.Interface.Create(ctx, key, obj, out, ttl))
}

// GuaranteedUpdate implements storage.Interface.
func (s explained) GuaranteedUpdate(ctx context.Context, key string, destination runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, tryUpdate storage.UpdateFunc, cached runtime.Object) error {
	return explain(s.Interface.GuaranteedUpdate(ctx, key, destination, ignoreNotFound, preconditions, tryUpdate, cached))
}

// explain turns the error of a full etcd into one that says what to do.
func explain(err error) error {
	if !errors.Is(err, rpctypes.ErrNoSpace) {
		return err
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusInsufficientStorage,
		Reason:  ReasonStorageFull,
		Message: fullMessage,
	}}
}
