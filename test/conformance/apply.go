/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conformance

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// contested names a field that the sample of a resource sets, and another value.
var contested = map[string]struct {
	path  []string
	value any
}{
	"cachebackends": {path: []string{"spec", "replicas"}, value: int64(7)},
	"cachepolicies": {path: []string{"spec", "minimumMatchedTokens"}, value: int64(7)},
	"cachetenants":  {path: []string{"spec", "quota", "maxIndexEntries"}, value: int64(7)},
}

// rival returns an apply configuration for the object a that sets only the contested
// field.
func rival(t *testing.T, resource metav1.APIResource) *unstructured.Unstructured {
	t.Helper()
	field, known := contested[resource.Name]
	if !known {
		t.Fatalf("every stored resource needs a contested field: %s has none", resource.Name)
	}
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(v1alpha1.SchemeGroupVersion.WithKind(resource.Kind))
	obj.SetName("a")
	if err := unstructured.SetNestedField(obj.Object, field.value, field.path...); err != nil {
		t.Fatal(err)
	}
	return obj
}

// managers returns who owns something in an object, by operation and subresource.
func managers(obj *unstructured.Unstructured) map[string]bool {
	owners := map[string]bool{}
	for _, entry := range obj.GetManagedFields() {
		owners[entry.Manager+" "+string(entry.Operation)+" "+entry.Subresource] = true
	}
	return owners
}

// testApply lets two managers apply one object: the second is stopped where it
// would overwrite the first, unless it insists, and then the first is stopped.
func testApply(t *testing.T, s *suite) {
	for _, resource := range s.with(t, "create", "patch") {
		t.Run(resource.Name, func(t *testing.T) {
			client := s.client(t, resource, "apply")
			one, two := metav1.ApplyOptions{FieldManager: "one"}, metav1.ApplyOptions{FieldManager: "two"}

			created, err := client.Apply(t.Context(), "a", sample(t, resource, "a"), one)
			if err != nil {
				t.Fatal(err)
			}
			again, err := client.Apply(t.Context(), "a", sample(t, resource, "a"), one)
			if err != nil {
				t.Fatal(err)
			}
			if again.GetResourceVersion() != created.GetResourceVersion() {
				t.Errorf("applying the same again writes: version %s after %s", again.GetResourceVersion(), created.GetResourceVersion())
			}
			if _, err := client.Apply(t.Context(), "a", rival(t, resource), two); !apierrors.IsConflict(err) {
				t.Errorf("a contested field: %v, want a conflict", err)
			}
			two.Force = true
			forced, err := client.Apply(t.Context(), "a", rival(t, resource), two)
			if err != nil {
				t.Fatal(err)
			}
			field := contested[resource.Name]
			if value, _, _ := unstructured.NestedFieldNoCopy(forced.Object, field.path...); value != field.value {
				t.Errorf("the forced value is %v, want %v", value, field.value)
			}
			if forced.GetGeneration() != 2 || !managers(forced)["one Apply "] || !managers(forced)["two Apply "] {
				t.Errorf("generation %d owned by %v", forced.GetGeneration(), managers(forced))
			}
			if _, err := client.Apply(t.Context(), "a", sample(t, resource, "a"), one); !apierrors.IsConflict(err) {
				t.Errorf("the first manager after the second insisted: %v, want a conflict", err)
			}
		})
	}
}

// testStatus writes spec and status in one object through each of the two
// endpoints: each takes its own part and leaves no claim to the other.
func testStatus(t *testing.T, s *suite) {
	for _, resource := range s.with(t, "create", "patch") {
		t.Run(resource.Name, func(t *testing.T) {
			client := s.client(t, resource, "status")
			whole := rival(t, resource)
			if err := unstructured.SetNestedField(whole.Object, int64(5), "status", "observedGeneration"); err != nil {
				t.Fatal(err)
			}
			observed := func(obj *unstructured.Unstructured) int64 {
				value, _, _ := unstructured.NestedInt64(obj.Object, "status", "observedGeneration")
				return value
			}
			s.create(t, resource, "status", "a")

			written, err := client.Apply(t.Context(), "a", whole, metav1.ApplyOptions{FieldManager: "operator", Force: true})
			if err != nil {
				t.Fatal(err)
			}
			if observed(written) != 0 {
				t.Errorf("the main resource took a status: %v", written.Object["status"])
			}
			generation := written.GetGeneration()

			status := whole.DeepCopy()
			status.SetLabels(map[string]string{"from": "status"})
			written, err = client.ApplyStatus(t.Context(), "a", status, metav1.ApplyOptions{FieldManager: "controller"})
			if err != nil {
				t.Fatalf("status that repeats a spec of somebody else's: %v", err)
			}
			if observed(written) != 5 || written.GetGeneration() != generation || written.GetLabels()["from"] != "" {
				t.Errorf("after a write of the status: status %v, generation %d, labels %v", written.Object["status"], written.GetGeneration(), written.GetLabels())
			}
			if !managers(written)["controller Apply status"] {
				t.Errorf("the writer of the status owns nothing: %v", managers(written))
			}

			conditions := written.DeepCopy()
			if err := unstructured.SetNestedField(conditions.Object, int64(9), "status", "observedGeneration"); err != nil {
				t.Fatal(err)
			}
			written, err = client.UpdateStatus(t.Context(), conditions, metav1.UpdateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if observed(written) != 9 {
				t.Errorf("PUT of the status: status %v", written.Object["status"])
			}
		})
	}
}

// testSubresourcesNeverCreate writes every subresource of an object that is not
// there, with each verb that writes.
func testSubresourcesNeverCreate(t *testing.T, s *suite) {
	for _, resource := range s.with(t, "create", "patch") {
		t.Run(resource.Name, func(t *testing.T) {
			client := s.client(t, resource, "absent")
			for _, subresource := range []string{"status", "scale"} {
				if !s.serves(resource.Name + "/" + subresource) {
					continue
				}
				obj := sample(t, resource, "a")
				if subresource == "scale" {
					obj.SetGroupVersionKind(schema.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"})
					obj.Object["spec"] = map[string]any{"replicas": int64(1)}
				}
				if _, err := client.Update(t.Context(), obj, metav1.UpdateOptions{}, subresource); !apierrors.IsNotFound(err) {
					t.Errorf("PUT of %s: %v, want not found", subresource, err)
				}
				if _, err := client.Apply(t.Context(), "a", obj, metav1.ApplyOptions{FieldManager: "one"}, subresource); !apierrors.IsNotFound(err) {
					t.Errorf("apply of %s: %v, want not found", subresource, err)
				}
			}
		})
	}
}
