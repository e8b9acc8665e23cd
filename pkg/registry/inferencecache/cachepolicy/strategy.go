/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachepolicy

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
}

var _ stored.Strategy = strategy{}

// newStrategy returns the strategy for objects of the kinds in typer.
func newStrategy(typer runtime.ObjectTyper) strategy {
	return strategy{Base: stored.NewBase(typer, v1alpha1.SchemeGroupVersion)}
}

// PrepareForCreate clears the status, which is not the creator's to set.
func (strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	policy := obj.(*inferencecache.CachePolicy)
	policy.Generation = 1
	policy.Status = inferencecache.CachePolicyStatus{}
}

// PrepareForUpdate keeps the status and counts a change of the spec.
func (strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	policy, oldPolicy := obj.(*inferencecache.CachePolicy), old.(*inferencecache.CachePolicy)
	policy.Status = oldPolicy.Status
	stored.SetGeneration(&policy.ObjectMeta, &oldPolicy.ObjectMeta, policy.Spec, oldPolicy.Spec)
}

// Validate returns everything that is wrong with a new object.
func (strategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	return validation.ValidateCachePolicy(obj.(*inferencecache.CachePolicy))
}

// ValidateUpdate returns what an update breaks.
func (strategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.ValidateCachePolicyUpdate(obj.(*inferencecache.CachePolicy), old.(*inferencecache.CachePolicy))
}
