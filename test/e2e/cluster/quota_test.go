//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
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

// limit makes a quota of backends and waits until it is in force and the cluster
// follows what it counts. The cluster looks for new groups every half minute, and
// comes back to a server that was away after a pause; until then it misses what is
// made and deleted, and a quota is wrong for minutes. So there is an object first,
// and the quota is made again until the cluster has counted that.
func (c clients) limit(t *testing.T, namespace, count string) {
	t.Helper()
	backends, quotas := c.ours.InferencecacheV1alpha1().CacheBackends(namespace), c.CoreV1().ResourceQuotas(namespace)
	if _, err := backends.Create(t.Context(), newBackend("counted"), createOptions); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		_, err := quotas.Create(t.Context(), &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Name: "objects"},
			Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{backendCount: resource.MustParse(count)}},
		}, createOptions)
		if err != nil {
			return err
		}
		waiting, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err = programs.Poll(waiting, func() error { return c.used(t.Context(), namespace, 1) }); err != nil {
			err = errors.Join(err, quotas.Delete(t.Context(), "objects", metav1.DeleteOptions{}))
		}
		return err
	})
	if err := backends.Delete(t.Context(), "counted", metav1.DeleteOptions{}); err != nil {
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

// TestQuota holds that a count of our objects is enforced by our server and
// replenished by the cluster.
func TestQuota(t *testing.T) {
	t.Parallel()
	clients := newClients(t)
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

// TestQuotaHoldsInACrowd creates many more objects at once than the quota allows.
func TestQuotaHoldsInACrowd(t *testing.T) {
	t.Parallel()
	const allowed, tried = 10, 50
	clients := newClients(t)
	namespace := clients.newNamespace(t)
	backends := clients.ours.InferencecacheV1alpha1().CacheBackends(namespace)
	clients.limit(t, namespace, strconv.Itoa(allowed))
	var crowd sync.WaitGroup
	var created atomic.Int64
	for n := range tried {
		crowd.Go(func() {
			switch _, err := backends.Create(t.Context(), newBackend("b-"+strconv.Itoa(n)), createOptions); {
			case err == nil:
				created.Add(1)
			case !apierrors.IsForbidden(err):
				t.Errorf("got the error %v, want that the quota is exceeded", err)
			}
		})
	}
	crowd.Wait()
	list, err := backends.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if stored := len(list.Items); stored != allowed || created.Load() != allowed {
		t.Errorf("%d objects are stored and %d creations succeeded, want %d", stored, created.Load(), allowed)
	}
	if err := clients.used(t.Context(), namespace, allowed); err != nil {
		t.Error(err)
	}
}
