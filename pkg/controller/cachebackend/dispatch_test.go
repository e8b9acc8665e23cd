/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// shapes are all that a spec can ask for, with what is made for each and what is
// said of it at first.
var shapes = map[string]struct {
	edit  func(*v1alpha1.CacheBackendSpec)
	owned []string
	ready string
}{
	"EventsOnly":               {edit: eventsOnly, ready: "True/EventsOnlyActive"},
	"no adapter":               {edit: unsupported},
	"External":                 {edit: externalRedis, ready: "True/ExternalEndpointAccepted"},
	"HiCache without storage":  {edit: hiCache, ready: "False/AwaitingHiCacheEvents"},
	"no storage":               {edit: hostOnly, ready: "True/HostOnlyActive"},
	"Managed Redis":            {edit: managedRedis, owned: redisObjects, ready: "False/RolloutInProgress"},
	"Managed LMCacheServer":    {edit: managedLMCacheServer, owned: []string{"Deployment shared", "NetworkPolicy shared", "Service shared"}, ready: "False/RolloutInProgress"},
	"Managed Mooncake":         {edit: managedMooncake, owned: []string{"Deployment shared", "Service shared"}, ready: "False/RolloutInProgress"},
	"StatefulSet with storage": {edit: statefulRedis, owned: []string{"NetworkPolicy shared", "Secret shared-store-password", "Service shared", "StatefulSet shared"}, ready: "False/RolloutInProgress"},
	"Redis without a password": {edit: openRedis, owned: []string{"Deployment shared", "NetworkPolicy shared", "Service shared"}, ready: "False/RolloutInProgress"},
	"EventsOnly wins over a store": {edit: func(s *v1alpha1.CacheBackendSpec) {
		managedRedis(s)
		eventsOnly(s)
	}, ready: "True/EventsOnlyActive"},
}

var redisObjects = []string{"Deployment shared", "NetworkPolicy shared", "Secret shared-store-password", "Service shared"}

func statefulRedis(spec *v1alpha1.CacheBackendSpec) {
	managedRedis(spec)
	spec.DeploymentKind = v1alpha1.DeploymentKindStatefulSet
}

func openRedis(spec *v1alpha1.CacheBackendSpec) {
	managedRedis(spec)
	spec.RemoteStorage.Redis = &v1alpha1.RedisStorage{Auth: v1alpha1.RedisAuthNone}
}

// TestDispatch holds what each shape of a backend brings about.
func TestDispatch(t *testing.T) {
	for name, tc := range shapes {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, newBackend(tc.edit))
			h.look(t)
			if diff := cmp.Diff(tc.owned, h.owned(t)); diff != "" {
				t.Errorf("wrong objects (-want +got):\n%s", diff)
			}
			h.settle(t)
			if got := h.ready(t); got != tc.ready {
				t.Errorf("Ready is %q, want %q", got, tc.ready)
			}
		})
	}
}

// settle lets a backend without a store see an event, if it waits for one.
func (h *harness) settle(t *testing.T) {
	t.Helper()
	if h.ready(t) == "False/AwaitingFirstKVEvent" {
		h.change(t, func(b *v1alpha1.CacheBackend) {
			b.Annotations = map[string]string{v1alpha1.AnnotationRequireKVEvents: "false"}
		})
		h.look(t)
	}
}

// TestChangeOfShape holds that nothing of one shape is left in another one, and that
// what others have stays.
func TestChangeOfShape(t *testing.T) {
	for name, tc := range shapes {
		if name == "no adapter" {
			continue // such a backend is left alone
		}
		t.Run("to "+name, func(t *testing.T) {
			for from, before := range shapes {
				h := newHarness(t, newBackend(before.edit))
				h.look(t)
				h.change(t, func(b *v1alpha1.CacheBackend) { b.Spec = newBackend(tc.edit).Spec })
				if _, err := h.try(t); err != nil {
					// A Service changes between headless and not: it is made anew.
					h.look(t)
				}
				if diff := cmp.Diff(tc.owned, h.owned(t)); diff != "" {
					t.Errorf("from %s: wrong objects (-want +got):\n%s", from, diff)
				}
			}
		})
	}
}

// TestAutoscalingComesAndGoes holds that an autoscaler is made and removed with the
// spec.
func TestAutoscalingComesAndGoes(t *testing.T) {
	h := newHarness(t, newBackend(managedLMCacheServer))
	h.change(t, func(b *v1alpha1.CacheBackend) {
		b.Spec.Autoscaling = &v1alpha1.AutoscalingSpec{MinReplicas: ptr.To[int32](1), MaxReplicas: 3}
	})
	h.look(t)
	with := []string{"Deployment shared", "HorizontalPodAutoscaler shared", "NetworkPolicy shared", "PodDisruptionBudget shared", "Service shared"}
	if diff := cmp.Diff(with, h.owned(t)); diff != "" {
		t.Errorf("wrong objects (-want +got):\n%s", diff)
	}
	h.change(t, func(b *v1alpha1.CacheBackend) { b.Spec.Autoscaling = nil })
	h.look(t)
	if diff := cmp.Diff([]string{"Deployment shared", "NetworkPolicy shared", "Service shared"}, h.owned(t)); diff != "" {
		t.Errorf("wrong objects (-want +got):\n%s", diff)
	}
}
