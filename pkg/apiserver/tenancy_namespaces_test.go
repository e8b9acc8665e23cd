/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	coreinformers "k8s.io/client-go/informers"
	corefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/generated/clientset/versioned/fake"
	"inferencecache.io/inference-cache/pkg/generated/informers/externalversions"
	"inferencecache.io/inference-cache/pkg/index"
)

// TestANamespaceOwnsItsName follows a tenant id that is claimed before there is a
// namespace of that name.
func TestANamespaceOwnsItsName(t *testing.T) {
	ctx := t.Context()
	ours, core := fake.NewClientset(), corefake.NewClientset()
	factory, coreFactory := externalversions.NewSharedInformerFactory(ours, 0), coreinformers.NewSharedInformerFactory(core, 0)
	l := &told{limits: map[string]index.TenantLimits{}}
	var mu sync.Mutex
	var moves []string
	tenancy, err := newTenancy(factory.Inferencecache().V1alpha1(), coreFactory.Core().V1().Namespaces(), l, func(namespaces ...string) {
		mu.Lock()
		defer mu.Unlock()
		moves = append(moves, fmt.Sprint(namespaces))
	})
	if err != nil {
		t.Fatal(err)
	}
	factory.Start(ctx.Done())
	coreFactory.Start(ctx.Done())
	t.Cleanup(factory.Shutdown)
	t.Cleanup(coreFactory.Shutdown)
	state := func() string {
		mu.Lock()
		defer mu.Unlock()
		return l.state(tenancy, "acme") + fmt.Sprint(moves)
	}
	await := func(what string, done func() bool) {
		t.Helper()
		if err := wait.PollUntilContextTimeout(ctx, time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) { return done(), nil }); err != nil {
			t.Fatalf("%s: %v; got %s", what, err, state())
		}
	}
	await("sync", tenancy.hasSynced)

	claim := func(namespace string, quota int64) func() error {
		tenant := &v1alpha1.CacheTenant{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "t"}, Spec: v1alpha1.CacheTenantSpec{
			TenantID: "acme", Quota: &v1alpha1.CacheTenantQuota{MaxIndexEntries: ptr.To(quota)},
		}}
		return func() error {
			_, err := ours.InferencecacheV1alpha1().CacheTenants(namespace).Create(ctx, tenant, metav1.CreateOptions{})
			return err
		}
	}
	drop := func(namespace string) func() error {
		return func() error {
			return ours.InferencecacheV1alpha1().CacheTenants(namespace).Delete(ctx, "t", metav1.DeleteOptions{})
		}
	}
	steps := []struct {
		name string
		do   func() error
		want string
	}{
		{"a claim", claim("team-a", 100),
			"acme in team-a: no policy, 100 blocks, order 0, 0s; [[acme team-a]]"},
		{"the namespace comes", func() error {
			_, err := core.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "acme"}}, metav1.CreateOptions{})
			return err
		}, "acme in acme: no policy; [[acme team-a] [team-a acme]]"},
		{"its own claim", claim("acme", 5),
			"acme in acme: no policy, 5 blocks, order 0, 0s; [[acme team-a] [team-a acme]]"},
		{"its own claim goes", drop("acme"),
			"acme in acme: no policy; [[acme team-a] [team-a acme]]"},
		{"the namespace goes", func() error { return core.CoreV1().Namespaces().Delete(ctx, "acme", metav1.DeleteOptions{}) },
			"acme in team-a: no policy, 100 blocks, order 0, 0s; [[acme team-a] [team-a acme] [acme team-a]]"},
		{"the claim goes", drop("team-a"),
			"acme in acme: no policy; [[acme team-a] [team-a acme] [acme team-a] [team-a acme]]"},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		await(step.name, func() bool { return state() == step.want })
	}
}
