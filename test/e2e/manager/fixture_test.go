//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/generated/clientset/versioned"
	"inferencecache.io/inference-cache/test/programs"
)

// clients are an administrator's, for one namespace.
type clients struct {
	kubernetes.Interface

	ours      versioned.Interface
	namespace string
}

// newClients makes a namespace. It is deleted when the test ends, which nobody waits
// for: the control plane goes soon after.
func newClients(t *testing.T) clients {
	t.Helper()
	config := environment.Cluster.Config()
	core, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	namespace, err := core.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "team-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return clients{Interface: core, ours: ours, namespace: namespace.Name}
}

// create makes a backend.
func (c clients) create(t *testing.T, name string, spec v1alpha1.CacheBackendSpec) *v1alpha1.CacheBackend {
	t.Helper()
	backend, err := c.ours.InferencecacheV1alpha1().CacheBackends(c.namespace).Create(t.Context(),
		&v1alpha1.CacheBackend{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return backend
}

func (c clients) get(ctx context.Context, name string) (*v1alpha1.CacheBackend, error) {
	return c.ours.InferencecacheV1alpha1().CacheBackends(c.namespace).Get(ctx, name, metav1.GetOptions{})
}

// awaitReady waits until condition Ready has a reason, and returns the backend as it
// is then.
func (c clients) awaitReady(t *testing.T, name string, status metav1.ConditionStatus, reason string) *v1alpha1.CacheBackend {
	t.Helper()
	var backend *v1alpha1.CacheBackend
	eventually(t, func() (err error) {
		if backend, err = c.get(t.Context(), name); err != nil {
			return err
		}
		ready := meta.FindStatusCondition(backend.Status.Conditions, v1alpha1.ConditionReady)
		if ready == nil || ready.Status != status || ready.Reason != reason {
			return fmt.Errorf("condition Ready of %s is %+v, want %s with reason %s; status %+v", name, ready, status, reason, backend.Status)
		}
		return nil
	})
	return backend
}

// eventually waits until a condition holds.
func eventually(t *testing.T, try func() error) {
	t.Helper()
	if err := programs.Poll(t.Context(), try); err != nil {
		t.Fatal(err)
	}
}
