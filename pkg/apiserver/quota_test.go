/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/apiserver"
	"inferencecache.io/inference-cache/pkg/generated/clientset/versioned"
)

const countBackends = corev1.ResourceName("count/cachebackends.inferencecache.io")

// objectQuota limits the objects of a namespace. used is what the quota controller
// has counted.
func objectQuota(namespace string, used, hard map[corev1.ResourceName]int64) corev1.ResourceQuota {
	list := func(counts map[corev1.ResourceName]int64) corev1.ResourceList {
		out := corev1.ResourceList{}
		for name, n := range counts {
			out[name] = *resource.NewQuantity(n, resource.DecimalSI)
		}
		return out
	}
	return corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "objects", Namespace: namespace},
		Spec:       corev1.ResourceQuotaSpec{Hard: list(hard)},
		Status:     corev1.ResourceQuotaStatus{Hard: list(hard), Used: list(used)},
	}
}

func backends(used int64) map[corev1.ResourceName]int64 {
	return map[corev1.ResourceName]int64{countBackends: used}
}

// TestQuotaOfOneKind follows the count of one kind through what changes it.
func TestQuotaOfOneKind(t *testing.T) {
	kube := &cluster{}
	kube.quotas.set(objectQuota("default", backends(0), backends(2)))
	c := clusterClient(t, startInCluster(t, kube), "admin").InferencecacheV1alpha1().CacheBackends("default")
	ctx := t.Context()
	mustCount := func(after string, want int64) {
		t.Helper()
		if got := kube.quotas.used(t, "default", countBackends); got != want {
			t.Fatalf("after %s the quota has counted %d, want %d", after, got, want)
		}
	}

	if _, err := c.Create(ctx, backend("a"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
		t.Fatal(err)
	}
	mustCount("a dry run", 0)
	invalid := backend("a")
	invalid.Spec.Runtime = "none"
	if _, err := c.Create(ctx, invalid, metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		t.Fatalf("create an invalid object: error %v", err)
	}
	mustCount("an invalid object", 0)
	a, err := c.Create(ctx, backend("a"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	mustCount("one object", 1)
	a.Labels = map[string]string{"changed": "yes"}
	if _, err := c.Update(ctx, a, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	mustCount("an update", 1)
	if _, err := c.Create(ctx, backend("b"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	mustCount("two objects", 2)
	mustExceed(t, "2", func() error { _, err := c.Create(ctx, backend("c"), metav1.CreateOptions{}); return err }())
	mustExceed(t, "2", func() error {
		_, err := c.Patch(ctx, "c", "application/apply-patch+yaml", []byte(manifest("c")), metav1.PatchOptions{FieldManager: "test"})
		return err
	}())

	if err := c.Delete(ctx, "b", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	mustCount("a delete, before the quota controller", 2)
	kube.quotas.set(objectQuota("default", backends(1), backends(2)))
	mustSucceedSoon(t, func(ctx context.Context) error {
		_, err := c.Create(ctx, backend("c"), metav1.CreateOptions{})
		return err
	})
	mustCount("the quota controller and one more object", 2)
}

// mustExceed asserts a refusal that says which quota and why.
func mustExceed(t *testing.T, used string, err error) {
	t.Helper()
	want := fmt.Sprintf("exceeded quota: objects, requested: %s=1, used: %s=%s, limited: %s=%s", countBackends, countBackends, used, countBackends, used)
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), want) {
		t.Fatalf("error %v, want %q", err, want)
	}
}

// mustSucceedSoon repeats what depends on an informer of the server.
func mustSucceedSoon(t *testing.T, try func(context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		last = try(ctx)
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("%v: %v", err, last)
	}
}

// TestQuotaOfEveryKind creates one object of each kind where none is allowed, and
// where there is no quota.
func TestQuotaOfEveryKind(t *testing.T) {
	kube := &cluster{}
	none := map[corev1.ResourceName]int64{}
	for path := range served {
		none[corev1.ResourceName("count/"+path+".inferencecache.io")] = 0
	}
	kube.quotas.set(objectQuota("default", none, none))
	c := clusterClient(t, startInCluster(t, kube), "admin")
	tests := map[string]struct {
		create  func(c versioned.Interface, namespace string) error
		refused bool
	}{
		"cachebackends": {refused: true, create: func(c versioned.Interface, namespace string) error {
			b := backend("a")
			b.Namespace = namespace
			_, err := c.InferencecacheV1alpha1().CacheBackends(namespace).Create(t.Context(), b, metav1.CreateOptions{})
			return err
		}},
		"cachepolicies": {refused: true, create: func(c versioned.Interface, namespace string) error {
			p := &v1alpha1.CachePolicy{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
			_, err := c.InferencecacheV1alpha1().CachePolicies(namespace).Create(t.Context(), p, metav1.CreateOptions{})
			return err
		}},
		"cachetenants": {refused: true, create: func(c versioned.Interface, namespace string) error {
			ct := &v1alpha1.CacheTenant{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: v1alpha1.CacheTenantSpec{TenantID: "acme"}}
			_, err := c.InferencecacheV1alpha1().CacheTenants(namespace).Create(t.Context(), ct, metav1.CreateOptions{})
			return err
		}},
		"routelookups": {create: func(c versioned.Interface, namespace string) error {
			l := &v1alpha1.RouteLookup{Spec: v1alpha1.RouteLookupSpec{ModelID: "m", TokenIDs: []int64{1, 2, 3}}}
			_, err := c.InferencecacheV1alpha1().RouteLookups(namespace).Create(t.Context(), l, metav1.CreateOptions{})
			return err
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if err := tc.create(c, "default"); apierrors.IsForbidden(err) != tc.refused || err != nil && !tc.refused {
				t.Errorf("under a quota of 0: error %v, want refused %t", err, tc.refused)
			}
			if err := tc.create(c, "other"); err != nil {
				t.Errorf("without a quota: %v", err)
			}
		})
	}
}

// TestQuotaUnderContention creates more at once than a quota allows.
func TestQuotaUnderContention(t *testing.T) {
	const allowed, tried = 5, 20
	kube := &cluster{}
	kube.quotas.set(objectQuota("default", backends(0), backends(allowed)))
	c := clusterClient(t, startInCluster(t, kube), "admin").InferencecacheV1alpha1().CacheBackends("default")
	var created atomic.Int64
	var all sync.WaitGroup
	for i := range tried {
		all.Go(func() {
			_, err := c.Create(t.Context(), backend(fmt.Sprintf("b%d", i)), metav1.CreateOptions{})
			switch {
			case err == nil:
				created.Add(1)
			case !apierrors.IsForbidden(err):
				t.Errorf("create: %v", err)
			}
		})
	}
	all.Wait()
	if created.Load() != allowed || kube.quotas.used(t, "default", countBackends) != allowed {
		t.Errorf("%d objects were created and %d counted, want %d", created.Load(), kube.quotas.used(t, "default", countBackends), allowed)
	}
}

// TestQuotaKnowsEveryKind holds that a kind is counted when it is stored and
// ignored when it is only created.
func TestQuotaKnowsEveryKind(t *testing.T) {
	want, got := map[string]string{}, map[string]string{}
	for path, verbs := range served {
		switch {
		case strings.Contains(path, "/") || !strings.Contains(verbs, "create"):
		case strings.Contains(verbs, "list"):
			want[path] = "counted"
		default:
			want[path] = "ignored"
		}
	}
	configuration := apiserver.QuotaConfiguration()
	for _, e := range configuration.Evaluators() {
		got[e.GroupResource().Resource] = "counted"
	}
	for gr := range configuration.IgnoredResources() {
		got[gr.Resource] = "ignored"
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what quotas know is not what is served (-want +got):\n%s", diff)
	}
}
