/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachetenant

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/validation"
	"inferencecache.io/inference-cache/pkg/registry/stored"
)

// strategy decides about writes of the main resource.
type strategy struct {
	stored.Base
	namespaces Namespaces
}

var _ stored.Strategy = strategy{}

// newStrategy returns the strategy for objects of the kinds in typer.
func newStrategy(typer runtime.ObjectTyper, namespaces Namespaces) strategy {
	return strategy{Base: stored.NewBase(typer, v1alpha1.SchemeGroupVersion), namespaces: namespaces}
}

// PrepareForCreate clears the status, which is not the creator's to set.
func (strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	tenant := obj.(*inferencecache.CacheTenant)
	tenant.Generation = 1
	tenant.Status = inferencecache.CacheTenantStatus{}
}

// PrepareForUpdate keeps the status and counts a change of the spec.
func (strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	tenant, oldTenant := obj.(*inferencecache.CacheTenant), old.(*inferencecache.CacheTenant)
	tenant.Status = oldTenant.Status
	stored.SetGeneration(&tenant.ObjectMeta, &oldTenant.ObjectMeta, tenant.Spec, oldTenant.Spec)
}

// Validate returns everything that is wrong with a new object.
func (s strategy) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	tenant := obj.(*inferencecache.CacheTenant)
	return append(validation.ValidateCacheTenant(tenant), validateForeignNamespace(ctx, s.namespaces, tenant)...)
}

// ValidateUpdate returns what an update breaks.
func (s strategy) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	tenant, oldTenant := obj.(*inferencecache.CacheTenant), old.(*inferencecache.CacheTenant)
	errs := validation.ValidateCacheTenantUpdate(tenant, oldTenant)
	if tenant.Spec.TenantID == oldTenant.Spec.TenantID {
		return errs
	}
	return append(errs, validateForeignNamespace(ctx, s.namespaces, tenant)...)
}
