/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/validation"
	"inferencecache.io/inference-cache/pkg/registry/stored"
)

// strategy decides about writes of the main resource.
type strategy struct {
	stored.Base
	adapters validation.Adapters
}

var _ stored.Strategy = strategy{}

// newStrategy returns the strategy for objects of the kinds in typer, held to
// what the adapters declare.
func newStrategy(typer runtime.ObjectTyper, adapters validation.Adapters) strategy {
	return strategy{Base: stored.NewBase(typer, v1alpha1.SchemeGroupVersion), adapters: adapters}
}

// PrepareForCreate clears the status, which is not the creator's to set, and
// fixes the floor of the autoscaler. The floor is derived here and not in the
// scheme's defaults, because those run on every read and write: the floor would
// follow each later change of replicas.
func (strategy) PrepareForCreate(_ context.Context, obj runtime.Object) {
	backend := obj.(*inferencecache.CacheBackend)
	backend.Generation = 1
	backend.Status = inferencecache.CacheBackendStatus{}

	autoscaling, replicas := backend.Spec.Autoscaling, backend.Spec.Replicas
	// An autoscaler has no floor of zero, so validation asks for one instead.
	if autoscaling != nil && autoscaling.MinReplicas == nil && ptr.Deref(replicas, 0) > 0 {
		autoscaling.MinReplicas = ptr.To(*replicas)
	}
}

// PrepareForUpdate keeps the status and counts a change of the spec.
func (strategy) PrepareForUpdate(_ context.Context, obj, old runtime.Object) {
	backend, oldBackend := obj.(*inferencecache.CacheBackend), old.(*inferencecache.CacheBackend)
	backend.Status = oldBackend.Status
	stored.SetGeneration(&backend.ObjectMeta, &oldBackend.ObjectMeta, backend.Spec, oldBackend.Spec)
}

// Validate returns everything that is wrong with a new object.
func (s strategy) Validate(_ context.Context, obj runtime.Object) field.ErrorList {
	return validation.ValidateCacheBackend(obj.(*inferencecache.CacheBackend), s.adapters)
}

// ValidateUpdate returns what an update breaks.
func (s strategy) ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList {
	return validation.ValidateCacheBackendUpdate(obj.(*inferencecache.CacheBackend), old.(*inferencecache.CacheBackend), s.adapters)
}
