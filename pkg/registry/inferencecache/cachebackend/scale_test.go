/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// schemeKind returns the served kind of an object of the hub.
func schemeKind(t *testing.T, scheme *runtime.Scheme, obj runtime.Object) schema.GroupVersionKind {
	t.Helper()
	kinds, _, err := scheme.ObjectKinds(obj)
	if err != nil {
		t.Fatal(err)
	}
	return v1alpha1.SchemeGroupVersion.WithKind(kinds[0].Kind)
}

// owner returns a managed fields entry of the served version.
func owner(manager, version, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: version,
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
	}
}

// The API version that owners use and sets of fields that they own.
const (
	served          = "inferencecache.io/v1alpha1"
	onlyReplicas    = `{"f:spec":{"f:replicas":{}}}`
	onlyRuntime     = `{"f:spec":{"f:runtime":{}}}`
	replicasRuntime = `{"f:spec":{"f:replicas":{},"f:runtime":{}}}`
)

func TestScaleOf(t *testing.T) {
	backend := testBackend(withStatus, func(b *inferencecache.CacheBackend) {
		b.Status.Selector = "app=cache"
		b.ManagedFields = []metav1.ManagedFieldsEntry{owner("creator", served, replicasRuntime)}
	})
	got, err := scaleOf(backend)
	if err != nil {
		t.Fatal(err)
	}
	want := &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{
			Name: "a", Namespace: "ns", UID: "uid", ResourceVersion: "5",
			ManagedFields: []metav1.ManagedFieldsEntry{owner("creator", "autoscaling/v1", onlyReplicas)},
		},
		Spec:   autoscalingv1.ScaleSpec{Replicas: 2},
		Status: autoscalingv1.ScaleStatus{Replicas: 2, Selector: "app=cache"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("scale (-want +got):\n%s", diff)
	}
}

func TestScaleInfo(t *testing.T) {
	tests := map[string]struct {
		change       func(*autoscalingv1.Scale)
		wantReplicas int32
		wantVersion  string
		wantOwners   []metav1.ManagedFieldsEntry
		refused      func(error) bool
	}{
		"scaled by another": {
			change: func(s *autoscalingv1.Scale) {
				s.Spec.Replicas = 7
				s.ManagedFields = []metav1.ManagedFieldsEntry{owner("scaler", "autoscaling/v1", onlyReplicas)}
			},
			wantReplicas: 7, wantVersion: "5",
			wantOwners: []metav1.ManagedFieldsEntry{owner("creator", served, onlyRuntime), owner("scaler", served, onlyReplicas)},
		},
		"scaled by the creator": {
			change:       func(s *autoscalingv1.Scale) { s.Spec.Replicas = 7 },
			wantReplicas: 7, wantVersion: "5",
			wantOwners: []metav1.ManagedFieldsEntry{owner("creator", served, replicasRuntime)},
		},
		"from a stale version": {
			change:       func(s *autoscalingv1.Scale) { s.ResourceVersion = "4" },
			wantReplicas: 2, wantVersion: "4",
			wantOwners: []metav1.ManagedFieldsEntry{owner("creator", served, replicasRuntime)},
		},
		"unconditionally": {
			change:       func(s *autoscalingv1.Scale) { s.ResourceVersion = "" },
			wantReplicas: 2, wantVersion: "5",
			wantOwners: []metav1.ManagedFieldsEntry{owner("creator", served, replicasRuntime)},
		},
		"to zero": {
			change:       func(s *autoscalingv1.Scale) { s.Spec.Replicas = 0 },
			wantReplicas: 0, wantVersion: "5",
			wantOwners: []metav1.ManagedFieldsEntry{owner("creator", served, replicasRuntime)},
		},
		"below zero": {
			change:  func(s *autoscalingv1.Scale) { s.Spec.Replicas = -1 },
			refused: apierrors.IsInvalid,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			old := testBackend(func(b *inferencecache.CacheBackend) {
				b.ManagedFields = []metav1.ManagedFieldsEntry{owner("creator", served, replicasRuntime)}
			})
			scale, err := scaleOf(old)
			if err != nil {
				t.Fatal(err)
			}
			test.change(scale)
			obj, err := scaleInfo{UpdatedObjectInfo: rest.DefaultUpdatedObjectInfo(scale)}.UpdatedObject(t.Context(), old)
			if test.refused != nil {
				if !test.refused(err) {
					t.Errorf("unexpected outcome %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			backend := obj.(*inferencecache.CacheBackend)
			if *backend.Spec.Replicas != test.wantReplicas || backend.ResourceVersion != test.wantVersion {
				t.Errorf("%d replicas at version %s, want %d at %s", *backend.Spec.Replicas, backend.ResourceVersion, test.wantReplicas, test.wantVersion)
			}
			if diff := cmp.Diff(test.wantOwners, backend.ManagedFields); diff != "" {
				t.Errorf("managed fields (-want +got):\n%s", diff)
			}
			if *old.Spec.Replicas != 2 {
				t.Error("the stored object was changed")
			}
		})
	}
}

func TestScaleNeverCreates(t *testing.T) {
	if (scaleStrategy{strategy: newStrategy(testScheme(), testAdapters{})}).AllowCreateOnUpdate(t.Context()) {
		t.Error("scaling creates a CacheBackend")
	}
}
