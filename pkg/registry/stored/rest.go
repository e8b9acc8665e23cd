/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stored

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage"

	"inferencecache.io/inference-cache/pkg/registry/reservation"
)

// Category is the category that all kinds of the group belong to, as in
// "kubectl get inferencecache".
const Category = "inferencecache"

// Kind says what the storage of one stored kind is made of.
type Kind struct {
	// Resource is the plural name, Singular the singular one.
	Resource, Singular schema.GroupResource
	// ShortNames are the abbreviations that kubectl knows.
	ShortNames []string
	// NewFunc returns an empty object, NewListFunc an empty list.
	NewFunc, NewListFunc func() runtime.Object
	// Strategy decides about writes of the main resource.
	Strategy Strategy
	// AttrFunc returns the labels and the selectable fields of an object.
	AttrFunc storage.AttrFunc
	// Table prints the kind.
	Table rest.TableConvertor
	// Unique, when set, says which value no two objects may share.
	Unique *reservation.Rule
}

// Strategy is what a kind decides about writes of its main resource.
type Strategy interface {
	rest.RESTCreateStrategy
	rest.RESTUpdateStrategy
	rest.RESTDeleteStrategy
	rest.ResetFieldsStrategy
}

// REST is the storage of a main resource.
type REST struct {
	*genericregistry.Store
	shortNames []string
	// unique is nil for a kind without a unique value.
	unique *reservation.Storage
}

var (
	_ rest.StandardStorage        = (*REST)(nil)
	_ rest.ShortNamesProvider     = (*REST)(nil)
	_ rest.CategoriesProvider     = (*REST)(nil)
	_ rest.SingularNameProvider   = (*REST)(nil)
	_ rest.ResetFieldsStrategy    = (*REST)(nil)
	_ rest.StorageVersionProvider = (*REST)(nil)
)

// New returns the storage of a kind.
func New(kind Kind, optsGetter generic.RESTOptionsGetter) (*REST, error) {
	store := &genericregistry.Store{
		NewFunc:                   kind.NewFunc,
		NewListFunc:               kind.NewListFunc,
		DefaultQualifiedResource:  kind.Resource,
		SingularQualifiedResource: kind.Singular,
		CreateStrategy:            kind.Strategy,
		UpdateStrategy:            kind.Strategy,
		DeleteStrategy:            kind.Strategy,
		ResetFieldsStrategy:       kind.Strategy,
		TableConvertor:            kind.Table,
	}
	r := &REST{Store: store, shortNames: kind.ShortNames}
	backend, err := optsGetter.GetRESTOptions(kind.Resource, kind.NewFunc())
	if err != nil {
		return nil, fmt.Errorf("building the storage of %s: %w", kind.Resource, err)
	}
	if kind.Unique != nil {
		backend.Decorator = r.reserve(*kind.Unique, kind.Resource, backend.Decorator)
	}
	// Outermost, because reservations need space as well.
	backend.Decorator = explainFull(backend.Decorator)
	options := &generic.StoreOptions{RESTOptions: backend, AttrFunc: kind.AttrFunc}
	if err := store.CompleteWithOptions(options); err != nil {
		return nil, fmt.Errorf("building the storage of %s: %w", kind.Resource, err)
	}
	return r, nil
}

// ShortNames implements rest.ShortNamesProvider.
func (r *REST) ShortNames() []string {
	return r.shortNames
}

// Categories implements rest.CategoriesProvider.
func (r *REST) Categories() []string {
	return []string{Category}
}

// Update writes an object, and creates it when it is not there. It differs from
// the embedded store in one case: a request that carries a resourceVersion is
// about an object that somebody has read, so if that is gone the answer is a
// 404 instead of a resurrection from a stale copy.
func (r *REST) Update(ctx context.Context, name string, objInfo rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc,
	updateValidation rest.ValidateObjectUpdateFunc, forceAllowCreate bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	guarded := rest.WrapUpdatedObjectInfo(objInfo, refuseResurrection(r.DefaultQualifiedResource, name))
	out, created, err := r.Store.Update(ctx, name, guarded, createValidation, updateValidation, forceAllowCreate, options)
	if err == nil {
		err = r.checkDryRun(ctx, out, options.DryRun)
	}
	if err != nil {
		return nil, false, err
	}
	return out, created, nil
}

// refuseResurrection returns a check that an update which names a version finds
// an object. The store passes an empty object when there is none.
func refuseResurrection(resource schema.GroupResource, name string) rest.TransformFunc {
	return func(_ context.Context, obj, old runtime.Object) (runtime.Object, error) {
		newMeta, err := meta.Accessor(obj)
		if err != nil {
			return nil, err
		}
		oldMeta, err := meta.Accessor(old)
		if err != nil {
			return nil, err
		}
		// "0" means any version, as the store reads it.
		if version := newMeta.GetResourceVersion(); oldMeta.GetResourceVersion() == "" && version != "" && version != "0" {
			return nil, apierrors.NewNotFound(resource, name)
		}
		return obj, nil
	}
}
