/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package oracle

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/adapters"
	"inferencecache.io/inference-cache/pkg/adapters/admission"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/validation"
)

// cases is how many random objects each property is tried with, leastAccepted
// how many of them have to pass our validation, with something of their own in
// the Pod, for the property to say anything.
const (
	cases         = 20_000
	leastAccepted = cases / 20
)

// property is one part of a CacheBackend that ends up in a Pod.
type property struct {
	// fill changes a valid backend at random.
	fill func(*inferencecache.CacheBackendSpec, int64)
	// pod is where the part ends up.
	pod func(*testing.T, *inferencecache.CacheBackendSpec) corev1.PodTemplateSpec
}

// inTemplate fills one part of the overrides at a time, so that a bad part does
// not hide what becomes of a good one.
func inTemplate(fill func(*inferencecache.PodTemplateOverrides, int64)) property {
	return property{pod: storePod, fill: func(spec *inferencecache.CacheBackendSpec, seed int64) {
		spec.Template = &inferencecache.PodTemplateOverrides{}
		fill(spec.Template, seed)
		if seed%2 == 0 {
			spec.RemoteStorage.Provider = inferencecache.StorageProviderMooncake
		}
	}}
}

var properties = map[string]property{
	"affinity": inTemplate(func(o *inferencecache.PodTemplateOverrides, seed int64) {
		o.Affinity = &corev1.Affinity{}
		filler(seed).Fill(o.Affinity)
	}),
	"tolerations": inTemplate(func(o *inferencecache.PodTemplateOverrides, seed int64) { filler(seed).Fill(&o.Tolerations) }),
	"topology spread": inTemplate(func(o *inferencecache.PodTemplateOverrides, seed int64) {
		filler(seed).Fill(&o.TopologySpreadConstraints)
	}),
	"security context": inTemplate(func(o *inferencecache.PodTemplateOverrides, seed int64) {
		o.SecurityContext = &corev1.PodSecurityContext{}
		filler(seed).Fill(o.SecurityContext)
		if seed%8 > 0 {
			o.SecurityContext.WindowsOptions = nil
		}
	}),
	"names and selectors": inTemplate(func(o *inferencecache.PodTemplateOverrides, seed int64) {
		filler(seed).Fill(o)
		o.Affinity, o.Tolerations, o.TopologySpreadConstraints, o.SecurityContext = nil, nil, nil, nil
		for i, name := range []*string{&o.ServiceAccountName, &o.PriorityClassName, &o.SchedulerName} {
			if (seed>>i)%2 == 0 {
				*name = ""
			}
		}
	}),
	"store": {pod: storePod, fill: func(spec *inferencecache.CacheBackendSpec, seed int64) {
		block := &inferencecache.LMCacheServerStorage{}
		filler(seed).Fill(block)
		if seed%2 == 0 {
			block.Image = ""
		}
		spec.RemoteStorage.LMCacheServer = block
	}},
	"resources": {pod: storePod, fill: func(spec *inferencecache.CacheBackendSpec, seed int64) {
		resources := &corev1.ResourceRequirements{}
		filler(seed).Fill(resources)
		spec.RemoteStorage.LMCacheServer = &inferencecache.LMCacheServerStorage{Resources: resources}
		if seed%2 == 0 {
			spec.Autoscaling = &inferencecache.AutoscalingSpec{MinReplicas: ptr.To[int32](1), MaxReplicas: 2}
		}
	}},
	"variables": {pod: enginePod, fill: func(spec *inferencecache.CacheBackendSpec, seed int64) {
		overrides := &inferencecache.EngineOverrides{}
		filler(seed).Fill(&overrides.Env)
		for i := range overrides.Env {
			if seed%4 > 0 {
				overrides.Env[i].Name = string(rune('A' + i))
			}
			if overrides.Env[i].ValueFrom != nil && seed%4 > 1 {
				overrides.Env[i].Value = ""
			}
		}
		spec.Integration.EngineOverrides = overrides
	}},
	"arguments and worker": {pod: enginePod, fill: func(spec *inferencecache.CacheBackendSpec, seed int64) {
		overrides, config := &inferencecache.EngineOverrides{}, &inferencecache.LMCacheConfig{}
		filler(seed).Fill(&overrides.Args)
		filler(seed).Fill(&config.WorkerImage)
		filler(seed).Fill(&config.WorkerPort)
		spec.Integration.EngineOverrides, spec.LMCache = overrides, config
	}},
}

// TestClusterJudges holds that the judge is awake: it refuses what is known to be
// refused, in the template and in the Pod alone.
func TestClusterJudges(t *testing.T) {
	spoil := map[string]func(*corev1.PodSpec){
		"nothing":    nil,
		"toleration": func(s *corev1.PodSpec) { s.Tolerations = []corev1.Toleration{{Key: "a", Effect: "Evict"}} },
		"resources": func(s *corev1.PodSpec) {
			s.Containers[0].Resources.Requests = corev1.ResourceList{"example.com/a": resource.MustParse("1")}
		},
		"image of Pods": func(s *corev1.PodSpec) { s.Containers[0].Image = " a" },
		"sysctl on the node's network": func(s *corev1.PodSpec) {
			s.HostNetwork = true
			s.SecurityContext = &corev1.PodSecurityContext{Sysctls: []corev1.Sysctl{{Name: "net.core.somaxconn", Value: "1"}}}
		},
	}
	for name, change := range spoil {
		t.Run(name, func(t *testing.T) {
			template := storePod(t, &validBackend().Spec)
			if change != nil {
				change(&template.Spec)
			}
			if errs := refusals(t, template); (len(errs) > 0) != (change != nil) {
				t.Errorf("got %v", errs)
			}
		})
	}
}

// TestAcceptedIsValidInAPod holds that nothing we accept makes a Pod which a
// cluster refuses.
func TestAcceptedIsValidInAPod(t *testing.T) {
	adapters := admission.New(adapters.All())
	for name, property := range properties {
		t.Run(name, func(t *testing.T) {
			accepted, plain := 0, map[inferencecache.StorageProvider]corev1.PodTemplateSpec{}
			for _, provider := range []inferencecache.StorageProvider{inferencecache.StorageProviderLMCacheServer, inferencecache.StorageProviderMooncake} {
				backend := validBackend()
				backend.Spec.RemoteStorage.Provider = provider
				plain[provider] = property.pod(t, &backend.Spec)
			}
			for seed := range int64(cases) {
				backend := validBackend()
				property.fill(&backend.Spec, seed)
				if len(validation.ValidateCacheBackend(backend, adapters)) > 0 {
					continue
				}
				pod := property.pod(t, &backend.Spec)
				if !apiequality.Semantic.DeepEqual(plain[backend.Spec.RemoteStorage.Provider], pod) {
					accepted++
				}
				if errs := refusals(t, pod); len(errs) > 0 {
					text, _ := json.Marshal(backend.Spec)
					t.Fatalf("seed %d is accepted and later refused: %v\n%s", seed, errs.ToAggregate(), text)
				}
			}
			if accepted < leastAccepted || accepted == cases {
				t.Errorf("%d of %d random objects are accepted, want some refused and at least %d accepted", accepted, cases, leastAccepted)
			}
			t.Logf("%d of %d random objects are accepted", accepted, cases)
		})
	}
}

func validBackend() *inferencecache.CacheBackend {
	return &inferencecache.CacheBackend{
		ObjectMeta: metav1.ObjectMeta{Name: "store", Namespace: "ns"},
		Spec: inferencecache.CacheBackendSpec{
			Runtime:        inferencecache.RuntimeVLLM,
			Type:           inferencecache.CacheBackendTypeLMCache,
			DeploymentKind: inferencecache.DeploymentKindDeployment,
			Replicas:       ptr.To[int32](1),
			Integration: &inferencecache.IntegrationSpec{
				Mode: inferencecache.IntegrationModeOffload, Role: inferencecache.IntegrationRoleReadWrite, FailOpen: ptr.To(true),
			},
			RemoteStorage: &inferencecache.RemoteStorage{
				Provider: inferencecache.StorageProviderLMCacheServer, Ownership: inferencecache.StorageOwnershipManaged,
			},
		},
	}
}
