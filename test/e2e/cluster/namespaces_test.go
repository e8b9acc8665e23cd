//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// namespaceLimit is how long the deletion of a namespace may take. A user waits for
// it, and for every other namespace of the cluster if it hangs.
const namespaceLimit = 15 * time.Second

// fill puts one object of each stored kind into a namespace.
func (c clients) fill(t *testing.T, namespace string) {
	t.Helper()
	kinds := c.ours.InferencecacheV1alpha1()
	if _, err := kinds.CacheBackends(namespace).Create(t.Context(), newBackend("a"), createOptions); err != nil {
		t.Fatal(err)
	}
	policy := &v1alpha1.CachePolicy{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	if _, err := kinds.CachePolicies(namespace).Create(t.Context(), policy, createOptions); err != nil {
		t.Fatal(err)
	}
	tenant := &v1alpha1.CacheTenant{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: v1alpha1.CacheTenantSpec{TenantID: "tenant-of-" + namespace}}
	if _, err := kinds.CacheTenants(namespace).Create(t.Context(), tenant, createOptions); err != nil {
		t.Fatal(err)
	}
}

func (c clients) deleteNamespace(t *testing.T, name string) {
	t.Helper()
	if err := c.CoreV1().Namespaces().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// awaitNoNamespace waits until a namespace is gone and returns how long that took.
func (c clients) awaitNoNamespace(t *testing.T, name string) time.Duration {
	t.Helper()
	started := time.Now()
	eventually(t, func() error {
		_, err := c.CoreV1().Namespaces().Get(t.Context(), name, getOptions)
		return isGone(err)
	})
	return time.Since(started)
}

// awaitCondition waits until the deletion of a namespace is held up, and tells why.
func (c clients) awaitCondition(t *testing.T, name string, want corev1.NamespaceConditionType) {
	t.Helper()
	eventually(t, func() error {
		namespace, err := c.CoreV1().Namespaces().Get(t.Context(), name, getOptions)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(namespace.Status.Conditions, func(c corev1.NamespaceCondition) bool {
			return c.Type == want && c.Status == corev1.ConditionTrue
		}) {
			return fmt.Errorf("%s has no condition %s: %+v", name, want, namespace.Status.Conditions)
		}
		return nil
	})
}

// TestNamespaceDeletion deletes namespaces with our objects, of which it leaves
// nothing: a tenant id can be claimed again.
func TestNamespaceDeletion(t *testing.T) {
	t.Parallel()
	clients := newClients(t)
	namespace := clients.newNamespace(t)
	clients.fill(t, namespace)
	clients.deleteNamespace(t, namespace)
	took := clients.awaitNoNamespace(t, namespace)
	t.Logf("a namespace with our objects was deleted in %v", took.Round(time.Millisecond))
	if took > namespaceLimit {
		t.Errorf("it took longer than %v", namespaceLimit)
	}
	again := clients.newNamespace(t)
	tenant := &v1alpha1.CacheTenant{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: v1alpha1.CacheTenantSpec{TenantID: "tenant-of-" + namespace}}
	if _, err := clients.ours.InferencecacheV1alpha1().CacheTenants(again).Create(t.Context(), tenant, createOptions); err != nil {
		t.Errorf("the tenant id is not free: %v", err)
	}
}

// TestFinalizers holds that an object with a finalizer stays, and its namespace
// with it, until the finalizer is taken away.
func TestFinalizers(t *testing.T) {
	t.Parallel()
	clients := newClients(t)
	namespace := clients.newNamespace(t)
	backends := clients.ours.InferencecacheV1alpha1().CacheBackends(namespace)
	held := newBackend("held")
	held.Finalizers = []string{"example.com/hold"}
	if _, err := backends.Create(t.Context(), held, createOptions); err != nil {
		t.Fatal(err)
	}
	clients.deleteNamespace(t, namespace)
	clients.awaitCondition(t, namespace, corev1.NamespaceFinalizersRemaining)
	left, err := backends.Get(t.Context(), "held", getOptions)
	if err != nil {
		t.Fatal(err)
	}
	if left.DeletionTimestamp == nil {
		t.Error("the object is not being deleted")
	}
	left.Finalizers = nil
	if _, err := backends.Update(t.Context(), left, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	took := clients.awaitNoNamespace(t, namespace)
	t.Logf("the namespace was gone %v after the last finalizer", took.Round(time.Millisecond))
}
