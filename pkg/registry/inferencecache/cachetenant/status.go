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
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/validation"
	"inferencecache.io/inference-cache/pkg/registry/stored"
)

// statusStrategy decides about writes of the status.
type statusStrategy struct {
	stored.StatusBase
}

var _ stored.StatusStrategy = statusStrategy{}

// newStatusStrategy returns the status strategy that goes with main.
func newStatusStrategy(main strategy) statusStrategy {
	return statusStrategy{StatusBase: stored.StatusBase{Base: main.Base}}
}

// PrepareForUpdate keeps everything but the status.
func (statusStrategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	tenant, oldTenant := obj.(*inferencecache.CacheTenant), old.(*inferencecache.CacheTenant)
	stored.KeepMeta(&tenant.ObjectMeta, &oldTenant.ObjectMeta)
	tenant.Spec = oldTenant.Spec
}

// ValidateUpdate returns what an update of the status breaks.
func (statusStrategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.ValidateCacheTenantStatusUpdate(obj.(*inferencecache.CacheTenant), old.(*inferencecache.CacheTenant))
}
