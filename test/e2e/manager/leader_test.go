//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/test/aggregated"
)

// TestFailover stops the manager that works in the middle of provisioning. The one
// that waits takes over at once, and nothing is left or made twice.
func TestFailover(t *testing.T) {
	ctx, c := t.Context(), newClients(t)
	next, err := startManager(context.WithoutCancel(ctx), "next")
	if err != nil {
		t.Fatal(err)
	}
	lease := func() string {
		lease, err := c.CoordinationV1().Leases(aggregated.Namespace).Get(ctx, "inference-cache-controller-leader-lock", metav1.GetOptions{})
		if err != nil || lease.Spec.HolderIdentity == nil {
			return ""
		}
		return *lease.Spec.HolderIdentity
	}
	before := lease()
	backends := map[string]*v1alpha1.CacheBackend{}
	for _, name := range []string{"first", "second", "third"} {
		backends[name] = c.create(t, name, managedRedis())
	}
	if err := environment.manager.stop(ctx); err != nil {
		t.Fatal(err)
	}
	if err := takeOver(ctx, next); err != nil {
		t.Fatal(err)
	}
	for name, backend := range backends {
		c.awaitReady(t, name, metav1.ConditionFalse, v1alpha1.ReasonAwaitingFirstKVEvent)
		c.awaitOwned(t, backend, []string{"Deployment " + name, "NetworkPolicy " + name, "Secret " + name + "-store-password", "Service " + name})
	}
	if after := lease(); after == before || after == "" {
		t.Errorf("the Lease is held by %q, and was by %q", after, before)
	}
}

// TestKilled kills the manager that works. The next one goes on when the Lease has
// run out. It probes, which the others do not.
func TestKilled(t *testing.T) {
	ctx, c := t.Context(), newClients(t)
	next, err := startManager(context.WithoutCancel(ctx), "probing", "--functional-probe=true")
	if err != nil {
		t.Fatal(err)
	}
	if err := environment.manager.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := takeOver(ctx, next); err != nil {
		t.Fatal(err)
	}
	c.create(t, "cache", managedRedis())
	c.awaitReady(t, "cache", metav1.ConditionFalse, v1alpha1.ReasonAwaitingFirstKVEvent)

	// The server is probed over its real paths and works; no name leads to the store
	// here, which is a failure or unknown, as the resolver of the machine has it.
	c.patch(t, "cache", `{"metadata":{"annotations":{"inferencecache.io/require-kv-events":"false"}}}`)
	eventually(t, func() error {
		backend, err := c.get(ctx, "cache")
		if err != nil {
			return err
		}
		probed := meta.FindStatusCondition(backend.Status.Conditions, v1alpha1.ConditionFunctionalProbeOK)
		if probed == nil || !strings.Contains(probed.Message, "Stage t2: ") {
			return fmt.Errorf("condition FunctionalProbeOK is %+v, want the store in it", probed)
		}
		return nil
	})
	c.patch(t, "cache", `{"metadata":{"annotations":{"inferencecache.io/skip-functional-probe":"true"}}}`)
	c.awaitReady(t, "cache", metav1.ConditionTrue, v1alpha1.ReasonBackendReady)

	last, err := startManager(context.WithoutCancel(ctx), "last")
	if err != nil {
		t.Fatal(err)
	}
	if err := environment.manager.stop(ctx); err != nil {
		t.Fatal(err)
	}
	if err := takeOver(ctx, last); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		backend, err := c.get(ctx, "cache")
		if err == nil && meta.FindStatusCondition(backend.Status.Conditions, v1alpha1.ConditionFunctionalProbeOK) != nil {
			err = fmt.Errorf("a manager that does not probe leaves the condition: %+v", backend.Status.Conditions)
		}
		return err
	})
}

// TestOutage takes the server of our group away. Stores are kept as they should be
// meanwhile, and the manager needs nobody's help when the server is back.
func TestOutage(t *testing.T) {
	ctx, c := t.Context(), newClients(t)
	c.create(t, "cache", managedRedis())
	before := c.awaitReady(t, "cache", metav1.ConditionFalse, v1alpha1.ReasonAwaitingFirstKVEvent)
	server := environment.Installation.Replicas()[0]
	if err := server.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !server.Running() {
			if err := server.Start(context.WithoutCancel(ctx)); err != nil {
				t.Fatal(err)
			}
		}
	})
	if err := environment.Installation.AwaitAvailable(ctx, false); err != nil {
		t.Fatal(err)
	}
	_, err := c.CoreV1().Services(c.namespace).Patch(ctx, "cache", types.MergePatchType, []byte(`{"spec":{"selector":{"app.kubernetes.io/instance":"theirs"}}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		service, err := c.CoreV1().Services(c.namespace).Get(ctx, "cache", metav1.GetOptions{})
		if err == nil && service.Spec.Selector["app.kubernetes.io/instance"] != "cache" {
			err = fmt.Errorf("the Service selects %v", service.Spec.Selector)
		}
		return err
	})
	if err := server.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if err := environment.Installation.Await(ctx); err != nil {
		t.Fatal(err)
	}
	after := c.awaitReady(t, "cache", metav1.ConditionFalse, v1alpha1.ReasonAwaitingFirstKVEvent)
	if !after.Status.FirstAvailableAt.Equal(before.Status.FirstAvailableAt) {
		t.Errorf("the clock of the first event was set anew: %v, before %v", after.Status.FirstAvailableAt, before.Status.FirstAvailableAt)
	}
	c.create(t, "another", managedRedis())
	c.awaitReady(t, "another", metav1.ConditionFalse, v1alpha1.ReasonAwaitingFirstKVEvent)
	if err := environment.manager.ready(ctx); err != nil {
		t.Error(err)
	}
}
