/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conformance

import (
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// testScale scales with the client of the horizontal Pod autoscaler, which knows
// nothing but discovery, whatever discovery says can be scaled.
func testScale(t *testing.T, s *suite) {
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(s.discovery))
	clients, err := scale.NewForConfig(s.server.Config, mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(s.discovery))
	if err != nil {
		t.Fatal(err)
	}
	tested := 0
	for _, resource := range s.with(t, "create", "patch") {
		if !s.serves(resource.Name + "/scale") {
			continue
		}
		tested++
		t.Run(resource.Name, func(t *testing.T) {
			s.create(t, resource, "scale", "a")
			group := v1alpha1.SchemeGroupVersion.WithResource(resource.Name).GroupResource()
			client := clients.Scales("scale")
			found, err := client.Get(t.Context(), group, "a", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			found.Spec.Replicas = 5
			if _, err := client.Update(t.Context(), group, found, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			if _, err := client.Update(t.Context(), group, found, metav1.UpdateOptions{}); err == nil {
				t.Error("a stale scale was written")
			}
			obj, err := s.client(t, resource, "scale").Get(t.Context(), "a", metav1.GetOptions{}, "scale")
			if err != nil {
				t.Fatal(err)
			}
			if obj.GetAPIVersion() != autoscalingv1.SchemeGroupVersion.String() || obj.GetKind() != "Scale" {
				t.Errorf("the scale is a %s %s", obj.GetAPIVersion(), obj.GetKind())
			}
			main, err := s.client(t, resource, "scale").Get(t.Context(), "a", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if main.GetGeneration() != 2 {
				t.Errorf("generation %d after a scaling, want 2", main.GetGeneration())
			}
		})
	}
	if tested == 0 {
		t.Error("nothing can be scaled")
	}
}
