/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"crypto/sha256"
	"encoding/json"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// digest stands for content.
type digest [sha256.Size]byte

// memoKey is an object of a backend.
type memoKey struct{ kind, name string }

// entry is what was applied, and what the object was then. As long as neither
// changes there is nothing to apply.
type entry struct{ wanted, seen digest }

// memo remembers what was applied since the program began. To forget costs one call
// each, no more. It is safe for concurrent use.
type memo struct {
	mu       sync.Mutex
	backends map[types.NamespacedName]map[memoKey]entry
}

func newMemo() *memo {
	return &memo{backends: map[types.NamespacedName]map[memoKey]entry{}}
}

func (m *memo) fits(backend types.NamespacedName, key memoKey, e entry) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.backends[backend][key]
	return ok && known == e
}

func (m *memo) set(backend types.NamespacedName, key memoKey, e entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.backends[backend] == nil {
		m.backends[backend] = map[memoKey]entry{}
	}
	m.backends[backend][key] = e
}

func (m *memo) forget(backend types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.backends, backend)
}

// digestOf is equal for equal content. Only what JSON can write may be in it.
func digestOf(content map[string]any) digest {
	text, err := json.Marshal(content) // maps are written in the order of their keys
	if err != nil {
		panic(err) // the content came out of JSON types
	}
	return sha256.Sum256(text)
}

// fingerprint is what of an object somebody may have changed: everything but its
// status and the bookkeeping of the cluster, and without replicas that are the
// autoscaler's.
func fingerprint(object client.Object, free bool) (digest, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return digest{}, err
	}
	delete(content, "status")
	delete(content, "kind")
	delete(content, "apiVersion")
	for _, field := range []string{"managedFields", "resourceVersion", "generation"} {
		unstructured.RemoveNestedField(content, "metadata", field)
	}
	if free {
		unstructured.RemoveNestedField(content, "spec", "replicas")
	}
	return digestOf(content), nil
}

// wantedDigest stands for what is wanted. Replicas that are the autoscaler's are no
// part of it.
func wantedDigest(wanted *unstructured.Unstructured, free bool) digest {
	content := runtime.DeepCopyJSON(wanted.Object)
	if free {
		unstructured.RemoveNestedField(content, "spec", "replicas")
	}
	return digestOf(content)
}

// equalReplicas says whether two workloads are to have the same size.
func equalReplicas(a, b runtime.Object) bool {
	return ptr.Equal(replicasOf(a), replicasOf(b)) && replicasOf(a) != nil
}

// replicasOf returns the size that a workload should have, or nil.
func replicasOf(object runtime.Object) *int32 {
	switch o := object.(type) {
	case *appsv1.Deployment:
		return o.Spec.Replicas
	case *appsv1.StatefulSet:
		return o.Spec.Replicas
	default:
		return nil
	}
}
