//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// TestOrphans deletes owners in one API server whose dependents in the other stay,
// and are nobody's then.
func TestOrphans(t *testing.T) {
	t.Parallel()
	clients := newClients(t)
	namespace := clients.newNamespace(t)
	backends, maps := clients.ours.InferencecacheV1alpha1().CacheBackends(namespace), clients.CoreV1().ConfigMaps(namespace)
	backend, err := backends.Create(t.Context(), newBackend("owner"), createOptions)
	if err != nil {
		t.Fatal(err)
	}
	owned := newConfigMap("owned")
	owned.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(backend, v1alpha1.SchemeGroupVersion.WithKind("CacheBackend"))}
	if _, err := maps.Create(t.Context(), owned, createOptions); err != nil {
		t.Fatal(err)
	}
	if err := backends.Delete(t.Context(), backend.Name, metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationOrphan)}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		_, err := backends.Get(t.Context(), backend.Name, getOptions)
		return isGone(err)
	})
	left, err := maps.Get(t.Context(), owned.Name, getOptions)
	if err != nil || len(left.OwnerReferences) > 0 {
		t.Errorf("the dependent has the owners %v, error %v, want none", left.OwnerReferences, err)
	}
}
