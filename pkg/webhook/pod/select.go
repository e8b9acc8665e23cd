/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pod

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"inferencecache.io/inference-cache/pkg/adapters/workload"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// selectBackend returns the backend, of those in a Pod's namespace, that the Pod is
// an engine of, or nil: the first by name whose selector is not empty and matches. A
// backend that is being deleted takes no engines, and a Pod of a store is none.
func selectBackend(backends []v1alpha1.CacheBackend, pod *corev1.Pod) *v1alpha1.CacheBackend {
	if pod.Labels[workload.LabelManagedBy] == workload.ManagedByValue {
		return nil
	}
	var selected *v1alpha1.CacheBackend
	for i := range backends {
		backend := &backends[i]
		if backend.DeletionTimestamp == nil && matches(backend.Spec.EngineSelector, pod) && (selected == nil || backend.Name < selected.Name) {
			selected = backend
		}
	}
	return selected
}

func matches(selector *v1alpha1.EngineSelector, pod *corev1.Pod) bool {
	if selector == nil || len(selector.MatchLabels) == 0 {
		return false
	}
	for key, value := range selector.MatchLabels {
		if own, has := pod.Labels[key]; !has || own != value {
			return false
		}
	}
	return true
}

// excluded tells whether no Pod of a namespace is ever touched.
func excluded(namespace, own string) bool {
	return slices.Contains([]string{"kube-system", own}, namespace)
}
