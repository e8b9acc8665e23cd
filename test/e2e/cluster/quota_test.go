//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/test/programs"
)

// backendCount is what a quota of CacheBackends is called.
const backendCount = corev1.ResourceName("count/cachebackends.inferencecache.io")

// limit makes a quota and waits until it is in force.
func (c clients) limit(t *testing.T, namespace, hard string) {
	t.Helper()
	_, err := c.CoreV1().ResourceQuotas(namespace).Create(t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "objects"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{backendCount: resource.MustParse(hard)}},
	}, createOptions)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error { return c.used(t.Context(), namespace, 0) })
}

// used is an error unless a quota counts so many objects.
func (c clients) used(ctx context.Context, namespace string, want int64) error {
	quota, err := c.CoreV1().ResourceQuotas(namespace).Get(ctx, "objects", getOptions)
	if err != nil {
		return err
	}
	if got, ok := quota.Status.Used[backendCount]; !ok || got.Value() != want {
		return fmt.Errorf("the quota counts %s (%t), want %d", got.String(), ok, want)
	}
	return nil
}

// awaitCounting waits until the cluster counts our objects. It looks for new groups
// every half minute, and of what was deleted before it hears minutes later.
func (c clients) awaitCounting(t *testing.T) {
	t.Helper()
	namespace := c.newNamespace(t)
	c.limit(t, namespace, "1000")
	backends := c.ours.InferencecacheV1alpha1().CacheBackends(namespace)
	eventually(t, func() error {
		if _, err := backends.Create(t.Context(), newBackend("counted"), createOptions); err != nil {
			return err
		}
		if err := backends.Delete(t.Context(), "counted", metav1.DeleteOptions{}); err != nil {
			return err
		}
		waiting, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		return programs.Poll(waiting, func() error { return c.used(t.Context(), namespace, 0) })
	})
}

// TestQuota holds that a count of our objects is enforced by our server and
// replenished by the cluster.
func TestQuota(t *testing.T) {
	t.Parallel()
	clients := newClients(t)
	clients.awaitCounting(t)
	namespace := clients.newNamespace(t)
	backends := clients.ours.InferencecacheV1alpha1().CacheBackends(namespace)
	clients.limit(t, namespace, "1")
	if _, err := backends.Create(t.Context(), newBackend("first"), createOptions); err != nil {
		t.Fatal(err)
	}
	if err := clients.used(t.Context(), namespace, 1); err != nil {
		t.Error(err)
	}
	if _, err := backends.Create(t.Context(), newBackend("second"), createOptions); !apierrors.IsForbidden(err) {
		t.Errorf("got the error %v, want that the quota is exceeded", err)
	}
	if err := backends.Delete(t.Context(), "first", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	eventually(t, func() error { return clients.used(t.Context(), namespace, 0) })
	t.Logf("the quota was replenished in %v", time.Since(started).Round(time.Millisecond))
	if _, err := backends.Create(t.Context(), newBackend("second"), createOptions); err != nil {
		t.Error(err)
	}
}
