/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conformance

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// testCreation creates objects with POST, PUT and apply, and tries to bring a
// deleted one back with what a client still remembers of it.
func testCreation(t *testing.T, s *suite) {
	for _, resource := range s.with(t, "create", "update", "patch") {
		t.Run(resource.Name, func(t *testing.T) {
			clientOf := func(name string) dynamic.ResourceInterface {
				return s.client(t, resource, apart(resource, "creation", name))
			}
			client := clientOf("posted")
			posted := s.createApart(t, resource, "creation", "posted")
			put, err := clientOf("put").Update(t.Context(), sample(t, resource, "put"), metav1.UpdateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			applied, err := clientOf("applied").Apply(t.Context(), "applied", sample(t, resource, "applied"), metav1.ApplyOptions{FieldManager: "one"})
			if err != nil {
				t.Fatal(err)
			}
			for _, obj := range []*unstructured.Unstructured{posted, put, applied} {
				if obj.GetGeneration() != 1 || obj.GetUID() == "" || obj.GetResourceVersion() == "" {
					t.Errorf("%s: generation %d, UID %q, version %q", obj.GetName(), obj.GetGeneration(), obj.GetUID(), obj.GetResourceVersion())
				}
			}
			if _, err := client.Create(t.Context(), sample(t, resource, "posted"), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
				t.Errorf("POST of what is there: %v, want already exists", err)
			}
			generated := sample(t, resource, "")
			generated.SetGenerateName("some-")
			if created, err := clientOf("generated").Create(t.Context(), generated, metav1.CreateOptions{}); err != nil || !strings.HasPrefix(created.GetName(), "some-") {
				t.Errorf("generated name: %v, %v", created, err)
			}

			if err := client.Delete(t.Context(), "posted", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, err := client.Update(t.Context(), posted, metav1.UpdateOptions{}); err == nil {
				t.Error("a PUT of a deleted object brought it back")
			}
			posted.SetUID("")
			if _, err := client.Update(t.Context(), posted, metav1.UpdateOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("a PUT of a deleted version: %v, want not found", err)
			}
		})
	}
}

// testChunks reads a list in pages and puts them together.
func testChunks(t *testing.T, s *suite) {
	for _, resource := range s.with(t, "list", "create") {
		t.Run(resource.Name, func(t *testing.T) {
			const total = 5
			for i := range total {
				s.createApart(t, resource, "chunks", fmt.Sprintf("item-%d", i))
			}
			var names []string
			client, selector := s.together(t, resource, "chunks")
			options := metav1.ListOptions{Limit: 2, LabelSelector: selector}
			for pages := 1; ; pages++ {
				list, err := client.List(t.Context(), options)
				if err != nil {
					t.Fatal(err)
				}
				if len(list.Items) > 2 {
					t.Errorf("a page of %d", len(list.Items))
				}
				for _, item := range list.Items {
					names = append(names, item.GetName())
				}
				if options.Continue = list.GetContinue(); options.Continue == "" {
					break
				}
				if pages > total {
					t.Fatal("the list has no end")
				}
			}
			if got, want := strings.Join(names, " "), "item-0 item-1 item-2 item-3 item-4"; got != want {
				t.Errorf("pages hold %q, want %q", got, want)
			}
		})
	}
}

// testDryRun tries every write without effect.
func testDryRun(t *testing.T, s *suite) {
	for _, resource := range s.with(t, "create", "update", "patch", "delete") {
		t.Run(resource.Name, func(t *testing.T) {
			client := s.client(t, resource, "dry")
			dry := []string{metav1.DryRunAll}
			before := s.create(t, resource, "dry", "a")

			other := s.client(t, resource, apart(resource, "dry", "b"))
			created, err := other.Create(t.Context(), sample(t, resource, "b"), metav1.CreateOptions{DryRun: dry})
			if err != nil {
				t.Fatal(err)
			}
			if created.GetUID() == "" {
				t.Fatalf("dry creation: %v, %v", err, created)
			}
			if _, err := other.Get(t.Context(), "b", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("after a dry creation: %v, want not found", err)
			}
			if _, err := client.Apply(t.Context(), "a", rival(t, resource), metav1.ApplyOptions{FieldManager: "one", Force: true, DryRun: dry}); err != nil {
				t.Errorf("dry apply: %v", err)
			}
			if _, err := client.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"metadata":{"labels":{"k":"v"}}}`), metav1.PatchOptions{DryRun: dry}); err != nil {
				t.Errorf("dry patch: %v", err)
			}
			if err := client.Delete(t.Context(), "a", metav1.DeleteOptions{DryRun: dry}); err != nil {
				t.Errorf("dry deletion: %v", err)
			}
			after, err := client.Get(t.Context(), "a", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if after.GetResourceVersion() != before.GetResourceVersion() {
				t.Errorf("after dry writes: version %s, want %s", after.GetResourceVersion(), before.GetResourceVersion())
			}
		})
	}
}

// testStrictFields creates objects with a misspelt field and asks for an error.
func testStrictFields(t *testing.T, s *suite) {
	for _, resource := range s.with(t, "create") {
		t.Run(resource.Name, func(t *testing.T) {
			obj := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"mispelt": "x"}}}
			obj.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind(resource.Kind))
			obj.SetName("a")
			_, err := s.client(t, resource, "strict").Create(t.Context(), obj, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
			if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), `unknown field "spec.mispelt"`) {
				t.Errorf("a misspelt field: %v", err)
			}
		})
	}
}

// testDeletion holds a deletion with a finalizer, lets it go, and deletes a
// collection.
func testDeletion(t *testing.T, s *suite) {
	for _, resource := range s.with(t, "delete", "deletecollection") {
		t.Run(resource.Name, func(t *testing.T) {
			client := s.client(t, resource, "deletion")
			held := sample(t, resource, "held")
			held.SetFinalizers([]string{"example.com/hold"})
			if _, err := client.Create(t.Context(), held, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			if err := client.Delete(t.Context(), "held", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			found, err := client.Get(t.Context(), "held", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if found.GetDeletionTimestamp() == nil {
				t.Fatal("a held object is not being deleted")
			}
			if _, err := client.Patch(t.Context(), "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, err := client.Get(t.Context(), "held", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("a released object: %v, want not found", err)
			}
			s.createApart(t, resource, "deletion", "a")
			s.createApart(t, resource, "deletion", "b")
			for _, name := range []string{"a", "b"} {
				namespaced := s.client(t, resource, apart(resource, "deletion", name))
				if err := namespaced.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			all, selector := s.together(t, resource, "deletion")
			list, err := all.List(t.Context(), metav1.ListOptions{LabelSelector: selector})
			if err != nil {
				t.Fatal(err)
			}
			if len(list.Items) != 0 {
				t.Errorf("%d objects after the deletion of the collection", len(list.Items))
			}
		})
	}
}

// testSelectors lists by label and by name, and asks for a field that cannot be
// selected.
func testSelectors(t *testing.T, s *suite) {
	for _, resource := range s.with(t, "list", "create") {
		t.Run(resource.Name, func(t *testing.T) {
			red := s.createApart(t, resource, "selectors", "red")
			s.createApart(t, resource, "selectors", "plain")
			client, selector := s.together(t, resource, "selectors")
			label := []byte(`{"metadata":{"labels":{"team":"red"}}}`)
			if _, err := s.client(t, resource, red.GetNamespace()).Patch(t.Context(), "red", types.MergePatchType, label, metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
			for name, options := range map[string]metav1.ListOptions{
				"label":     {LabelSelector: "team=red"},
				"name":      {FieldSelector: "metadata.name=red", LabelSelector: selector},
				"not name":  {FieldSelector: "metadata.name!=plain", LabelSelector: selector},
				"namespace": {FieldSelector: "metadata.namespace=" + red.GetNamespace(), LabelSelector: "team"},
			} {
				list, err := client.List(t.Context(), options)
				if err != nil {
					t.Fatal(err)
				}
				if len(list.Items) != 1 || list.Items[0].GetName() != "red" {
					t.Errorf("by %s: %d objects", name, len(list.Items))
				}
			}
			if _, err := client.List(t.Context(), metav1.ListOptions{FieldSelector: "spec.nothing=x"}); !apierrors.IsBadRequest(err) {
				t.Errorf("by a field that cannot be selected: %v, want a bad request", err)
			}
		})
	}
}
