/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routelookup

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/validation"
	"inferencecache.io/inference-cache/pkg/registry/virtual"
)

// namePrefix starts the name of an answer to a lookup without a name.
const namePrefix = "lookup-"

// REST is the storage of routelookups.
type REST struct {
	rest.TableConvertor
	lookuper Lookuper
}

var (
	_ rest.Storage              = (*REST)(nil)
	_ rest.Scoper               = (*REST)(nil)
	_ rest.Creater              = (*REST)(nil)
	_ rest.SingularNameProvider = (*REST)(nil)
)

// NewREST returns the storage of routelookups.
func NewREST(lookuper Lookuper) *REST {
	return &REST{TableConvertor: newTable(), lookuper: lookuper}
}

// New implements rest.Storage.
func (*REST) New() runtime.Object {
	return &inferencecache.RouteLookup{}
}

// Destroy implements rest.Storage. There is nothing to release.
func (*REST) Destroy() {}

// NamespaceScoped implements rest.Scoper.
func (*REST) NamespaceScoped() bool {
	return true
}

// GetSingularName implements rest.SingularNameProvider.
func (*REST) GetSingularName() string {
	return "routelookup"
}

// Create answers a lookup.
func (r *REST) Create(ctx context.Context, obj runtime.Object, createValidation rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	lookup, ok := obj.(*inferencecache.RouteLookup)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected a RouteLookup, not %T", obj))
	}
	namespace, err := prepare(ctx, lookup)
	if err != nil {
		return nil, err
	}
	if errs := validation.ValidateRouteLookup(lookup); len(errs) > 0 {
		return nil, apierrors.NewInvalid(inferencecache.Kind("RouteLookup"), lookup.Name, errs)
	}
	if createValidation != nil {
		if err := createValidation(ctx, lookup.DeepCopyObject()); err != nil {
			return nil, err
		}
	}
	if err := r.lookuper.Lookup(ctx, namespace, lookup); err != nil {
		return nil, virtual.APIError(err)
	}
	return lookup, nil
}

// prepare brings a lookup into the form that is answered and returns the
// namespace of the request. The metadata is reduced to what identifies the
// answer to a reader: without a name kubectl prints <unknown>, and a UID or
// managed fields would suggest an object that exists.
func prepare(ctx context.Context, lookup *inferencecache.RouteLookup) (string, error) {
	namespace, ok := genericapirequest.NamespaceFrom(ctx)
	if !ok || namespace == "" {
		return "", apierrors.NewBadRequest("namespace: a RouteLookup is made in a namespace")
	}
	if err := rest.EnsureObjectNamespaceMatchesRequestNamespace(namespace, &lookup.ObjectMeta); err != nil {
		return "", err
	}
	meta := metav1.ObjectMeta{
		Name:        lookup.Name,
		Namespace:   namespace,
		Labels:      lookup.Labels,
		Annotations: lookup.Annotations,
	}
	if meta.Name == "" {
		prefix := lookup.GenerateName
		if prefix == "" {
			prefix = namePrefix
		}
		meta.Name = names.SimpleNameGenerator.GenerateName(prefix)
	}
	lookup.ObjectMeta = meta
	lookup.Status = inferencecache.RouteLookupStatus{}
	return namespace, nil
}
