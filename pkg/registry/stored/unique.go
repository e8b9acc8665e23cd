/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stored

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/dryrun"

	"inferencecache.io/inference-cache/pkg/registry/reservation"
)

// reserve makes the store reserve the unique value of what it writes. The status
// subresource, which copies the store, has to be made afterwards.
func (r *REST) reserve(kind Kind, optsGetter generic.RESTOptionsGetter) error {
	options, err := optsGetter.GetRESTOptions(kind.Resource, kind.NewFunc())
	if err != nil {
		return err
	}
	r.unique, err = reservation.Wrap(reservation.Config{
		Rule:     *kind.Unique,
		Resource: kind.Resource,
		Backend:  options.StorageConfig.Config,
		Objects:  r.Storage.Storage,
		Prefix:   r.KeyRootFunc(context.Background()),
		KeyOf: func(object types.NamespacedName) (string, error) {
			return r.KeyFunc(genericapirequest.WithNamespace(context.Background(), object.Namespace), object.Name)
		},
		NewFunc:     kind.NewFunc,
		NewListFunc: kind.NewListFunc,
	})
	if err != nil {
		return err
	}
	r.Storage.Storage = r.unique
	destroy := r.DestroyFunc
	r.DestroyFunc = func() {
		destroy()
		r.unique.Close()
	}
	return nil
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
