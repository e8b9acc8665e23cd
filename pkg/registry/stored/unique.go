/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stored

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/apiserver/pkg/util/dryrun"
	"k8s.io/client-go/tools/cache"

	"inferencecache.io/inference-cache/pkg/registry/reservation"
)

// reserve returns a decorator that makes the storage of decorate reserve the unique
// value of what it writes. The store uses its storage as soon as it has it, so this
// is the one moment to wrap it.
func (r *REST) reserve(rule reservation.Rule, resource schema.GroupResource, decorate generic.StorageDecorator) generic.StorageDecorator {
	return func(config *storagebackend.ConfigForResource, prefix string, keyFunc func(runtime.Object) (string, error),
		newFunc, newListFunc func() runtime.Object, attrs storage.AttrFunc, trigger storage.IndexerFuncs, indexers *cache.Indexers,
	) (storage.Interface, factory.DestroyFunc, error) {
		objects, destroy, err := decorate(config, prefix, keyFunc, newFunc, newListFunc, attrs, trigger, indexers)
		if err != nil {
			return nil, nil, err
		}
		r.unique, err = reservation.Wrap(reservation.Config{
			Rule:        rule,
			Resource:    resource,
			Backend:     config.Config,
			Objects:     objects,
			Prefix:      prefix,
			KeyOf:       keyOf(newFunc, keyFunc),
			NewFunc:     newFunc,
			NewListFunc: newListFunc,
		})
		if err != nil {
			destroy()
			return nil, nil, err
		}
		return r.unique, func() {
			destroy()
			r.unique.Close()
		}, nil
	}
}

// keyOf makes a function of an object's name of one of the object.
func keyOf(newFunc func() runtime.Object, keyFunc func(runtime.Object) (string, error)) func(types.NamespacedName) (string, error) {
	return func(name types.NamespacedName) (string, error) {
		obj := newFunc()
		m, err := meta.Accessor(obj)
		if err != nil {
			return "", err
		}
		m.SetNamespace(name.Namespace)
		m.SetName(name.Name)
		return keyFunc(obj)
	}
}

// Create writes a new object.
func (r *REST) Create(ctx context.Context, obj runtime.Object, createValidation rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	out, err := r.Store.Create(ctx, obj, createValidation, options)
	if err != nil {
		return nil, err
	}
	if err := r.checkDryRun(ctx, out, options.DryRun); err != nil {
		return nil, err
	}
	return out, nil
}

// checkDryRun answers a dry run, which writes nothing and so reserves nothing, as
// the write would have been answered.
func (r *REST) checkDryRun(ctx context.Context, obj runtime.Object, dryRun []string) error {
	if r.unique == nil || !dryrun.IsDryRun(dryRun) {
		return nil
	}
	return r.unique.Check(ctx, obj)
}

// Repair makes the reservations agree with the objects. It is for the start of a
// server; kinds without a unique value have nothing to do.
func (r *REST) Repair(ctx context.Context) error {
	if r.unique == nil {
		return nil
	}
	return r.unique.Repair(ctx)
}
