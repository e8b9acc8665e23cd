//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package install

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// leftovers returns all objects of the cluster that bear our name, are in our
// namespace, or belong to an object of ours, of whatever kind.
func leftovers(t *testing.T) []string {
	t.Helper()
	core, untyped := clients(t)
	lists, err := core.Discovery().ServerPreferredResources()
	if err != nil {
		t.Fatalf("some API group is out of order: %v", err)
	}
	var left []string
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		if version.Group == v1alpha1.GroupName {
			left = append(left, "the API group "+list.GroupVersion)
			continue
		}
		for _, kind := range list.APIResources {
			// Events tell of what was, for an hour.
			if !slices.Contains(kind.Verbs, "list") || kind.Name == "events" {
				continue
			}
			objects, err := untyped.Resource(version.WithResource(kind.Name)).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatalf("list %s: %v", kind.Name, err)
			}
			for i := range objects.Items {
				if object := &objects.Items[i]; isOurs(object) {
					left = append(left, fmt.Sprintf("%s %s/%s", kind.Name, object.GetNamespace(), object.GetName()))
				}
			}
		}
	}
	return left
}

func isOurs(object *unstructured.Unstructured) bool {
	owned := func(o metav1.OwnerReference) bool { return strings.HasPrefix(o.APIVersion, v1alpha1.GroupName+"/") }
	return object.GetNamespace() == namespace ||
		strings.Contains(object.GetName(), "inference-cache") || strings.Contains(object.GetName(), v1alpha1.GroupName) ||
		slices.ContainsFunc(object.GetOwnerReferences(), owned)
}
