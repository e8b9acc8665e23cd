/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/install"
)

// testScheme returns a scheme that knows the group.
func testScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return scheme
}

// testBackend returns a valid CacheBackend as it is after defaulting, changed by
// the given functions.
func testBackend(changes ...func(*inferencecache.CacheBackend)) *inferencecache.CacheBackend {
	backend := &inferencecache.CacheBackend{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "ns", UID: "uid", ResourceVersion: "5", Generation: 4},
		Spec: inferencecache.CacheBackendSpec{
			Runtime:        inferencecache.RuntimeVLLM,
			Type:           inferencecache.CacheBackendTypeLMCache,
			DeploymentKind: inferencecache.DeploymentKindDeployment,
			Replicas:       ptr.To[int32](2),
			Integration: &inferencecache.IntegrationSpec{
				Mode:     inferencecache.IntegrationModeOffload,
				Role:     inferencecache.IntegrationRoleReadWrite,
				FailOpen: ptr.To(true),
			},
			Observation: &inferencecache.ObservationSpec{},
			RemoteStorage: &inferencecache.RemoteStorage{
				Provider:  inferencecache.StorageProviderLMCacheServer,
				Ownership: inferencecache.StorageOwnershipManaged,
			},
		},
	}
	for _, change := range changes {
		change(backend)
	}
	return backend
}

// withStatus gives a backend a status.
func withStatus(backend *inferencecache.CacheBackend) {
	backend.Status = inferencecache.CacheBackendStatus{Endpoint: "cache:65432", Replicas: 2}
}

func TestStrategyPrepareForCreate(t *testing.T) {
	autoscaling := func(minimum *int32, replicas int32) func(*inferencecache.CacheBackend) {
		return func(b *inferencecache.CacheBackend) {
			b.Spec.Autoscaling = &inferencecache.AutoscalingSpec{MinReplicas: minimum, MaxReplicas: 9}
			b.Spec.Replicas = ptr.To(replicas)
		}
	}
	tests := map[string]struct {
		change func(*inferencecache.CacheBackend)
		want   *int32
	}{
		"floor follows the replicas":     {change: autoscaling(nil, 3), want: ptr.To[int32](3)},
		"floor of the operator is kept":  {change: autoscaling(ptr.To[int32](2), 3), want: ptr.To[int32](2)},
		"no floor from zero replicas":    {change: autoscaling(nil, 0)},
		"no autoscaling, so no floor":    {change: func(*inferencecache.CacheBackend) {}},
		"status of the creator is reset": {change: withStatus},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			backend := testBackend(test.change)
			newStrategy(testScheme(), testAdapters{}).PrepareForCreate(t.Context(), backend)
			var got *int32
			if backend.Spec.Autoscaling != nil {
				got = backend.Spec.Autoscaling.MinReplicas
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("minReplicas (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(inferencecache.CacheBackendStatus{}, backend.Status); diff != "" || backend.Generation != 1 {
				t.Errorf("generation %d with status:\n%s", backend.Generation, diff)
			}
			if backend.Spec.Autoscaling != nil && backend.Spec.Autoscaling.MinReplicas == backend.Spec.Replicas {
				t.Error("minReplicas and replicas are one variable")
			}
		})
	}
}

func TestStrategyPrepareForUpdate(t *testing.T) {
	tests := map[string]struct {
		change         func(*inferencecache.CacheBackend)
		wantGeneration int64
	}{
		"nothing changes":         {change: func(*inferencecache.CacheBackend) {}, wantGeneration: 4},
		"metadata changes":        {change: func(b *inferencecache.CacheBackend) { b.Labels = map[string]string{"k": "v"} }, wantGeneration: 4},
		"spec changes":            {change: func(b *inferencecache.CacheBackend) { b.Spec.Replicas = ptr.To[int32](7) }, wantGeneration: 5},
		"status is not taken":     {change: func(b *inferencecache.CacheBackend) { b.Status.Endpoint = "other" }, wantGeneration: 4},
		"generation is not taken": {change: func(b *inferencecache.CacheBackend) { b.Generation = 77 }, wantGeneration: 4},
		"floor is not set again": {
			change: func(b *inferencecache.CacheBackend) {
				b.Spec.Autoscaling = &inferencecache.AutoscalingSpec{MaxReplicas: 9}
			},
			wantGeneration: 5,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			old := testBackend(withStatus)
			backend := testBackend(withStatus, test.change)
			newStrategy(testScheme(), testAdapters{}).PrepareForUpdate(t.Context(), backend, old)
			if backend.Generation != test.wantGeneration {
				t.Errorf("generation %d, want %d", backend.Generation, test.wantGeneration)
			}
			if diff := cmp.Diff(old.Status, backend.Status); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
			if autoscaling := backend.Spec.Autoscaling; autoscaling != nil && autoscaling.MinReplicas != nil {
				t.Errorf("minReplicas became %d", *autoscaling.MinReplicas)
			}
		})
	}
}

func TestStrategyValidates(t *testing.T) {
	strategy := newStrategy(testScheme(), testAdapters{})
	if errs := strategy.Validate(t.Context(), testBackend()); len(errs) != 0 {
		t.Errorf("a valid backend is refused: %v", errs)
	}
	broken := testBackend(func(b *inferencecache.CacheBackend) { b.Spec.Runtime = "Other" })
	if errs := strategy.Validate(t.Context(), broken); len(errs) == 0 {
		t.Error("an unknown runtime is accepted")
	}
	if errs := strategy.ValidateUpdate(t.Context(), broken, testBackend()); len(errs) == 0 {
		t.Error("an update to an unknown runtime is accepted")
	}
	labelled := broken.DeepCopy()
	labelled.Labels = map[string]string{"k": "v"}
	if errs := strategy.ValidateUpdate(t.Context(), labelled, broken); len(errs) != 0 {
		t.Errorf("an unrelated edit of a broken object is refused: %v", errs)
	}
}

func TestStatusStrategy(t *testing.T) {
	old := testBackend()
	backend := testBackend(withStatus, func(b *inferencecache.CacheBackend) {
		b.Spec.Replicas = ptr.To[int32](7)
		b.Labels = map[string]string{"k": "v"}
		b.Generation = 77
	})
	strategy := newStatusStrategy(newStrategy(testScheme(), testAdapters{}))
	strategy.PrepareForUpdate(t.Context(), backend, old)
	if diff := cmp.Diff(testBackend(withStatus), backend); diff != "" {
		t.Errorf("object (-want +got):\n%s", diff)
	}
	if errs := strategy.ValidateUpdate(t.Context(), backend, old); len(errs) != 0 {
		t.Errorf("a valid status is refused: %v", errs)
	}
	broken := testBackend(func(b *inferencecache.CacheBackend) { b.Status.MatchedEnginePods = ptr.To[int32](-1) })
	if errs := strategy.ValidateUpdate(t.Context(), broken, old); len(errs) == 0 {
		t.Error("a negative number of Pods is accepted")
	}
}

func TestAttributes(t *testing.T) {
	backend := testBackend(func(b *inferencecache.CacheBackend) { b.Labels = map[string]string{"k": "v"} })
	gotLabels, gotFields, err := attributes(backend)
	if err != nil {
		t.Fatal(err)
	}
	wantFields := map[string]string{
		"metadata.name": "a", "metadata.namespace": "ns", "spec.type": "LMCache", "spec.runtime": "VLLM",
	}
	if diff := cmp.Diff(wantFields, map[string]string(gotFields)); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	if gotLabels["k"] != "v" {
		t.Errorf("labels are %v", gotLabels)
	}
	scheme := testScheme()
	kind := schemeKind(t, scheme, backend)
	for label := range wantFields {
		if _, _, err := scheme.ConvertFieldLabel(kind, label, "x"); err != nil {
			t.Errorf("the endpoint refuses a field that the store can select: %v", err)
		}
	}
	if _, _, err := attributes(&inferencecache.CachePolicy{}); err == nil {
		t.Error("another kind has attributes of a CacheBackend")
	}
}
