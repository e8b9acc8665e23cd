/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"

	"inferencecache.io/inference-cache/pkg/adapters"
	"inferencecache.io/inference-cache/pkg/adapters/admission"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/validation"
)

// endpointField is where admission says what is wrong with an endpoint.
const endpointField = "spec.remoteStorage.endpoint"

// supports says whether a registry has an adapter for a backend.
func supports(registry adapters.Registry, backend *v1alpha1.CacheBackend) bool {
	return slices.ContainsFunc(registry.Engines, func(e adapters.Engine) bool {
		return e.Runtime == backend.Spec.Runtime && e.Type == backend.Spec.Type
	})
}

// endpointProblem says what admission would refuse of an endpoint. What is stored
// may be older than its rules.
func endpointProblem(backend *v1alpha1.CacheBackend, registry adapters.Registry) (string, error) {
	hub := &inferencecache.CacheBackend{}
	if err := v1alpha1.Convert_v1alpha1_CacheBackend_To_inferencecache_CacheBackend(backend.DeepCopy(), hub, nil); err != nil {
		return "", fmt.Errorf("convert the backend: %w", err)
	}
	for _, problem := range validation.ValidateCacheBackend(hub, admission.New(registry)) {
		if problem.Field == endpointField {
			return problem.Detail, nil
		}
	}
	return "", nil
}

// sameStatus says whether there is nothing to write.
func sameStatus(a, b *v1alpha1.CacheBackendStatus) bool {
	return equality.Semantic.DeepEqual(a, b)
}

// readyReason is the reason of condition Ready as it was last written.
func readyReason(backend *v1alpha1.CacheBackend) string {
	if ready := meta.FindStatusCondition(backend.Status.Conditions, v1alpha1.ConditionReady); ready != nil {
		return ready.Reason
	}
	return ""
}
