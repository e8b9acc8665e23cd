/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"inferencecache.io/inference-cache/pkg/adapters"
	"inferencecache.io/inference-cache/pkg/adapters/admission"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/validation"
)

// kind is what the tests do with objects of one kind.
type kind struct {
	// base is the smallest valid manifest.
	base         func() map[string]any
	validate     func(runtime.Object) field.ErrorList
	update       func(updated, stored runtime.Object) field.ErrorList
	updateStatus func(updated, stored runtime.Object) field.ErrorList
}

// declared is what the server holds backends to.
var declared = admission.New(adapters.All())

var kinds = map[string]kind{
	"CacheBackend": {
		base: func() map[string]any { return base("CacheBackend", map[string]any{"runtime": "VLLM"}) },
		validate: func(o runtime.Object) field.ErrorList {
			return validation.ValidateCacheBackend(o.(*inferencecache.CacheBackend), declared)
		},
		update: func(updated, stored runtime.Object) field.ErrorList {
			return validation.ValidateCacheBackendUpdate(updated.(*inferencecache.CacheBackend), stored.(*inferencecache.CacheBackend), declared)
		},
		updateStatus: func(updated, stored runtime.Object) field.ErrorList {
			return validation.ValidateCacheBackendStatusUpdate(updated.(*inferencecache.CacheBackend), stored.(*inferencecache.CacheBackend))
		},
	},
	"CachePolicy": {
		base: func() map[string]any { return base("CachePolicy", nil) },
		validate: func(o runtime.Object) field.ErrorList {
			return validation.ValidateCachePolicy(o.(*inferencecache.CachePolicy))
		},
		update: func(updated, stored runtime.Object) field.ErrorList {
			return validation.ValidateCachePolicyUpdate(updated.(*inferencecache.CachePolicy), stored.(*inferencecache.CachePolicy))
		},
		updateStatus: func(updated, stored runtime.Object) field.ErrorList {
			return validation.ValidateCachePolicyStatusUpdate(updated.(*inferencecache.CachePolicy), stored.(*inferencecache.CachePolicy))
		},
	},
	"CacheTenant": {
		base: func() map[string]any { return base("CacheTenant", map[string]any{"tenantID": "a"}) },
		validate: func(o runtime.Object) field.ErrorList {
			return validation.ValidateCacheTenant(o.(*inferencecache.CacheTenant))
		},
		update: func(updated, stored runtime.Object) field.ErrorList {
			return validation.ValidateCacheTenantUpdate(updated.(*inferencecache.CacheTenant), stored.(*inferencecache.CacheTenant))
		},
		updateStatus: func(updated, stored runtime.Object) field.ErrorList {
			return validation.ValidateCacheTenantStatusUpdate(updated.(*inferencecache.CacheTenant), stored.(*inferencecache.CacheTenant))
		},
	},
}

func base(kind string, spec map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": v1alpha1.SchemeGroupVersion.String(), "kind": kind,
		"metadata": map[string]any{"name": "a", "namespace": "ns"}, "spec": spec,
	}
}

// stored returns an object as it is after it was stored once, under the name
// "a": a name cannot change, so that updates compare objects of one name.
func stored(object runtime.Object) runtime.Object {
	object = object.DeepCopyObject()
	accessor := object.(metav1.Object)
	accessor.SetResourceVersion("1")
	accessor.SetUID("uid")
	return object
}

// texts are errors as clients read them.
func texts(errs field.ErrorList) []string {
	var lines []string
	for _, err := range errs {
		lines = append(lines, err.Error())
	}
	return lines
}
