//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// redis is a backend with a store that the manager runs.
func redis() v1alpha1.CacheBackendSpec {
	return v1alpha1.CacheBackendSpec{
		Runtime:        v1alpha1.RuntimeSGLang,
		RemoteStorage:  &v1alpha1.RemoteStorage{Provider: v1alpha1.StorageProviderRedis, Ownership: v1alpha1.StorageOwnershipManaged},
		EngineSelector: &v1alpha1.EngineSelector{MatchLabels: map[string]string{"app": "engine"}},
		Observation:    &v1alpha1.ObservationSpec{ModelID: model},
	}
}

// model is what the engines serve.
const model = "example/model"

// TestManagedRedis follows a store from nothing to the first event of an engine, and
// back to nothing.
func TestManagedRedis(t *testing.T) {
	c := newClients(t)
	c.create(t, "cache", redis())
	c.awaitReady(t, "cache", metav1.ConditionFalse, v1alpha1.ReasonAwaitingFirstKVEvent)
}
