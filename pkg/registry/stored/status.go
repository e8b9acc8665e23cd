/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stored

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericregistry "k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// StatusStrategy is what a kind decides about writes of its status.
type StatusStrategy interface {
	rest.RESTUpdateStrategy
	rest.ResetFieldsStrategy
}

// StatusREST is the storage of a status subresource. It shares the store of the
// main resource and never creates an object.
type StatusREST struct {
	store *genericregistry.Store
}

var (
	_ rest.Patcher             = (*StatusREST)(nil)
	_ rest.ResetFieldsStrategy = (*StatusREST)(nil)
	_ rest.TableConvertor      = (*StatusREST)(nil)
)

// NewStatus returns the status subresource of a main resource.
func NewStatus(main *REST, strategy StatusStrategy) *StatusREST {
	store := *main.Store
	store.UpdateStrategy = strategy
	store.ResetFieldsStrategy = strategy
	return &StatusREST{store: &store}
}

// New implements rest.Storage.
func (r *StatusREST) New() runtime.Object {
	return r.store.New()
}

// Destroy implements rest.Storage. The main resource owns the shared store, so
// there is nothing to release here.
func (r *StatusREST) Destroy() {}

// Get implements rest.Getter, which a patch needs.
func (r *StatusREST) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return r.store.Get(ctx, name, options)
}

// Update writes the status. forceAllowCreate is ignored: applying a status to
// an object that is not there is a 404.
func (r *StatusREST) Update(ctx context.Context, name string, objInfo rest.UpdatedObjectInfo, createValidation rest.ValidateObjectFunc,
	updateValidation rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	return r.store.Update(ctx, name, objInfo, createValidation, updateValidation, false, options)
}

// GetResetFields implements rest.ResetFieldsStrategy.
func (r *StatusREST) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return r.store.GetResetFields()
}

// ConvertToTable implements rest.TableConvertor.
func (r *StatusREST) ConvertToTable(ctx context.Context, object, tableOptions runtime.Object) (*metav1.Table, error) {
	return r.store.ConvertToTable(ctx, object, tableOptions)
}
