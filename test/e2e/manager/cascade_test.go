//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// TestCascade replaces a store, after which the engines are restarted, each workload
// once.
func TestCascade(t *testing.T) {
	t.Parallel()
	c := newClients(t)
	backend := c.create(t, "cache", managedRedis())
	c.awaitReady(t, "cache", metav1.ConditionFalse, v1alpha1.ReasonAwaitingFirstKVEvent)
	eventually(t, func() (err error) {
		if backend, err = c.get(t.Context(), "cache"); err == nil && backend.Status.ObservedServerInstance == "" {
			err = fmt.Errorf("no store instance is known: %+v", backend.Status)
		}
		return err
	})
	for _, name := range []string{"first", "second"} {
		c.engines(t, name, backend)
	}
	before := backend.Status.ObservedServerInstance
	store := c.onlyPod(t, backend.Status.Selector)
	if err := c.CoreV1().Pods(c.namespace).Delete(t.Context(), store.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() (err error) {
		if backend, err = c.get(t.Context(), "cache"); err == nil && backend.Status.ObservedServerInstance == before {
			err = fmt.Errorf("the store instance is the one before: %s", before)
		}
		return err
	})
	triggers := map[string]bool{}
	for _, name := range []string{"first", "second"} {
		deployment, err := c.AppsV1().Deployments(c.namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		triggers[deployment.Spec.Template.Annotations[v1alpha1.AnnotationCacheServerRestartTrigger]] = true
		if deployment.Generation != 2 {
			t.Errorf("Deployment %s is of generation %d, want one change", name, deployment.Generation)
		}
	}
	if len(triggers) != 1 || triggers[""] {
		t.Errorf("the engines were restarted for %v, want one store instance", triggers)
	}
}
