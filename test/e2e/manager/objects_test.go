//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// kinds are all that a backend may own.
var kinds = map[string]schema.GroupVersionResource{
	"Deployment":              {Group: "apps", Version: "v1", Resource: "deployments"},
	"StatefulSet":             {Group: "apps", Version: "v1", Resource: "statefulsets"},
	"Service":                 {Version: "v1", Resource: "services"},
	"Secret":                  {Version: "v1", Resource: "secrets"},
	"NetworkPolicy":           {Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
	"HorizontalPodAutoscaler": {Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"},
	"PodDisruptionBudget":     {Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
}

// owned returns what a backend controls, as kind and name.
func (c clients) owned(t *testing.T, backend *v1alpha1.CacheBackend) []string {
	t.Helper()
	client, err := dynamic.NewForConfig(environment.Cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	var owned []string
	for kind, resource := range kinds {
		list, err := client.Resource(resource).Namespace(c.namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			if metav1.IsControlledBy(&list.Items[i], backend) {
				owned = append(owned, kind+" "+list.Items[i].GetName())
			}
		}
	}
	slices.Sort(owned)
	return owned
}

// awaitOwned waits until a backend controls exactly these objects.
func (c clients) awaitOwned(t *testing.T, backend *v1alpha1.CacheBackend, want []string) {
	t.Helper()
	eventually(t, func() error {
		if diff := cmp.Diff(want, c.owned(t, backend)); diff != "" {
			return fmt.Errorf("wrong objects (-want +got):\n%s", diff)
		}
		return nil
	})
}

// patch changes the spec of a backend.
func (c clients) patch(t *testing.T, name, patch string) {
	t.Helper()
	_, err := c.ours.InferencecacheV1alpha1().CacheBackends(c.namespace).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// awaitEvents waits until a backend has had Events of some reasons.
func (c clients) awaitEvents(t *testing.T, name string, reasons ...string) {
	t.Helper()
	eventually(t, func() error {
		events, err := c.EventsV1().Events(c.namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		var seen []string
		for i := range events.Items {
			if event := &events.Items[i]; event.Regarding.Name == name && event.Regarding.Kind == "CacheBackend" {
				seen = append(seen, event.Reason)
			}
		}
		for _, reason := range reasons {
			if !slices.Contains(seen, reason) {
				return fmt.Errorf("no Event %s, only %v", reason, seen)
			}
		}
		return nil
	})
}
