//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

var (
	getOptions    = metav1.GetOptions{}
	createOptions = metav1.CreateOptions{}
)

func newConfigMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// TestGarbageCollection deletes owners in one API server whose dependents are in
// the other.
func TestGarbageCollection(t *testing.T) {
	t.Parallel()
	clients := newClients(t)
	namespace := clients.newNamespace(t)
	backends, maps := clients.ours.InferencecacheV1alpha1().CacheBackends(namespace), clients.CoreV1().ConfigMaps(namespace)
	backend, err := backends.Create(t.Context(), newBackend("owner"), createOptions)
	if err != nil {
		t.Fatal(err)
	}
	configMap, err := maps.Create(t.Context(), newConfigMap("owner"), createOptions)
	if err != nil {
		t.Fatal(err)
	}
	owned := newConfigMap("owned")
	owned.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: "CacheBackend", Name: backend.Name, UID: backend.UID, BlockOwnerDeletion: ptr.To(true),
	}}
	if _, err := maps.Create(t.Context(), owned, createOptions); err != nil {
		t.Fatal(err)
	}
	ours := newBackend("owned")
	ours.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "v1", Kind: "ConfigMap", Name: configMap.Name, UID: configMap.UID, BlockOwnerDeletion: ptr.To(true),
	}}
	if _, err := backends.Create(t.Context(), ours, createOptions); err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	// In the foreground an owner goes after what it owns; in the background before.
	if err := backends.Delete(t.Context(), backend.Name, metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationForeground)}); err != nil {
		t.Fatal(err)
	}
	if err := maps.Delete(t.Context(), configMap.Name, metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)}); err != nil {
		t.Fatal(err)
	}
	for what, get := range map[string]func() error{
		"the ConfigMap of a CacheBackend": func() error { _, err := maps.Get(t.Context(), "owned", getOptions); return err },
		"its CacheBackend":                func() error { _, err := backends.Get(t.Context(), "owner", getOptions); return err },
		"the CacheBackend of a ConfigMap": func() error { _, err := backends.Get(t.Context(), "owned", getOptions); return err },
	} {
		eventually(t, func() error { return isGone(get()) })
		t.Logf("%s was gone %v after the deletions", what, time.Since(started).Round(time.Millisecond))
	}
}
