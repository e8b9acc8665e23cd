/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/install"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return scheme
}

func TestDefaults(t *testing.T) {
	tests := map[string]struct {
		object, want runtime.Object
	}{
		"backend without anything optional": {
			object: &v1alpha1.CacheBackend{Spec: v1alpha1.CacheBackendSpec{Runtime: v1alpha1.RuntimeVLLM}},
			want: &v1alpha1.CacheBackend{Spec: v1alpha1.CacheBackendSpec{
				Runtime:        v1alpha1.RuntimeVLLM,
				Type:           v1alpha1.CacheBackendTypeLMCache,
				DeploymentKind: v1alpha1.DeploymentKindDeployment,
				Replicas:       ptr.To[int32](1),
				Integration: &v1alpha1.IntegrationSpec{
					Mode:     v1alpha1.IntegrationModeOffload,
					Role:     v1alpha1.IntegrationRoleReadWrite,
					FailOpen: ptr.To(true),
				},
				Observation: &v1alpha1.ObservationSpec{FirstEventTimeout: &metav1.Duration{Duration: 5 * time.Minute}},
			}},
		},
		"backend with every default overridden": {
			object: overridden(),
			want:   overridden(),
		},
		"backend autoscaling keeps its floor absent": {
			object: &v1alpha1.CacheBackend{Spec: v1alpha1.CacheBackendSpec{
				Replicas:    ptr.To[int32](3),
				Autoscaling: &v1alpha1.AutoscalingSpec{MaxReplicas: 5},
			}},
			want: &v1alpha1.CacheBackend{Spec: v1alpha1.CacheBackendSpec{
				Type:           v1alpha1.CacheBackendTypeLMCache,
				DeploymentKind: v1alpha1.DeploymentKindDeployment,
				Replicas:       ptr.To[int32](3),
				Autoscaling:    &v1alpha1.AutoscalingSpec{MaxReplicas: 5},
				Integration: &v1alpha1.IntegrationSpec{
					Mode:     v1alpha1.IntegrationModeOffload,
					Role:     v1alpha1.IntegrationRoleReadWrite,
					FailOpen: ptr.To(true),
				},
				Observation: &v1alpha1.ObservationSpec{FirstEventTimeout: &metav1.Duration{Duration: 5 * time.Minute}},
			}},
		},
		"policy without anything": {
			object: &v1alpha1.CachePolicy{},
			want: &v1alpha1.CachePolicy{Spec: v1alpha1.CachePolicySpec{
				Eviction:        v1alpha1.EvictionLRU,
				AffinityRouting: ptr.To(v1alpha1.AffinityRoutingEnabled),
			}},
		},
		"policy with half a strategy": {
			object: &v1alpha1.CachePolicy{Spec: v1alpha1.CachePolicySpec{
				Eviction:        v1alpha1.EvictionLFU,
				AffinityRouting: ptr.To(v1alpha1.AffinityRoutingDisabled),
				Strategy:        &v1alpha1.LookupStrategy{EnableChainMatching: ptr.To(false)},
			}},
			want: &v1alpha1.CachePolicy{Spec: v1alpha1.CachePolicySpec{
				Eviction:        v1alpha1.EvictionLFU,
				AffinityRouting: ptr.To(v1alpha1.AffinityRoutingDisabled),
				Strategy: &v1alpha1.LookupStrategy{
					EnableChainMatching: ptr.To(false),
					RequireChain:        ptr.To(false),
					EnableTenantHot:     ptr.To(true),
				},
			}},
		},
		"tenant": {
			object: &v1alpha1.CacheTenant{Spec: v1alpha1.CacheTenantSpec{TenantID: "a"}},
			want: &v1alpha1.CacheTenant{Spec: v1alpha1.CacheTenantSpec{
				TenantID: "a", IsolationMode: v1alpha1.IsolationModeFairness,
			}},
		},
	}
	scheme := newScheme()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			scheme.Default(test.object)
			if diff := cmp.Diff(test.want, test.object); diff != "" {
				t.Fatalf("defaulted object (-want +got):\n%s", diff)
			}
			scheme.Default(test.object)
			if diff := cmp.Diff(test.want, test.object); diff != "" {
				t.Fatalf("defaulted twice (-want +got):\n%s", diff)
			}
		})
	}
}

// overridden has a value other than the default in every field that has one.
func overridden() *v1alpha1.CacheBackend {
	return &v1alpha1.CacheBackend{Spec: v1alpha1.CacheBackendSpec{
		Runtime:        v1alpha1.RuntimeSGLang,
		Type:           v1alpha1.CacheBackendTypeSGLangHiCache,
		DeploymentKind: v1alpha1.DeploymentKindStatefulSet,
		Replicas:       ptr.To[int32](0),
		Integration: &v1alpha1.IntegrationSpec{
			Mode:     v1alpha1.IntegrationModeEventsOnly,
			Role:     v1alpha1.IntegrationRoleWriteOnly,
			FailOpen: ptr.To(false),
		},
		Observation: &v1alpha1.ObservationSpec{FirstEventTimeout: &metav1.Duration{}},
	}}
}
