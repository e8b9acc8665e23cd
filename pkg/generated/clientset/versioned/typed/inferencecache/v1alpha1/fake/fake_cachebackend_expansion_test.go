/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fake_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	metav1apply "k8s.io/client-go/applyconfigurations/meta/v1"
	clienttesting "k8s.io/client-go/testing"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	cacheapply "inferencecache.io/inference-cache/pkg/generated/applyconfiguration/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/generated/clientset/versioned/fake"
	typedfake "inferencecache.io/inference-cache/pkg/generated/clientset/versioned/typed/inferencecache/v1alpha1/fake"
)

func TestFakeSubresources(t *testing.T) {
	backend := &v1alpha1.CacheBackend{ObjectMeta: metav1.ObjectMeta{Name: "b", Namespace: "ns"}}
	client := fake.NewClientset(backend)
	backends := client.InferencecacheV1alpha1().CacheBackends("ns")

	if got, err := backends.GetSnapshot(t.Context(), "b", v1alpha1.CacheBackendSnapshotOptions{}); err != nil || got == nil {
		t.Fatalf("without a reactor: got %v, error %v, want an empty snapshot", got, err)
	}
	want := &v1alpha1.CacheBackendObservation{ObservedBy: "reactor"}
	client.PrependReactor("get", "cachebackends/observation", func(action clienttesting.Action) (bool, runtime.Object, error) {
		get, ok := action.(typedfake.GetObservationAction)
		if !ok || get.GetName() != "b" || get.GetNamespace() != "ns" || get.Options.Limit != 3 {
			t.Errorf("reactor got %#v", action)
		}
		return true, want, nil
	})
	got, err := backends.GetObservation(t.Context(), "b", v1alpha1.CacheBackendObservationOptions{Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("observation (-want +got):\n%s", diff)
	}
}

// TestFakeApply holds that the fake knows how our lists merge: two appliers of
// one keyed list keep an entry each.
func TestFakeApply(t *testing.T) {
	client := fake.NewClientset()
	backends := client.InferencecacheV1alpha1().CacheBackends("ns")
	for _, manager := range []string{"one", "two"} {
		status := cacheapply.CacheBackendStatus().WithConditions(metav1apply.Condition().
			WithType(manager).WithStatus(metav1.ConditionTrue).WithReason("Test").WithMessage("").WithLastTransitionTime(metav1.Unix(1, 0)))
		if _, err := backends.Apply(t.Context(), cacheapply.CacheBackend("b", "ns").WithStatus(status),
			metav1.ApplyOptions{FieldManager: manager, Force: true}); err != nil {
			t.Fatalf("apply as %s: %v", manager, err)
		}
	}
	got, err := backends.Get(t.Context(), "b", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, condition := range got.Status.Conditions {
		types = append(types, condition.Type)
	}
	if diff := cmp.Diff([]string{"one", "two"}, types); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
}
