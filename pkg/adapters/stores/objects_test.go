/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stores_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/adapters/stores"
	"inferencecache.io/inference-cache/pkg/adapters/workload"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// TestCommonToAllObjects holds name, namespace, owner and labels of everything that
// any store has, as both kinds of workload.
func TestCommonToAllObjects(t *testing.T) {
	selector := map[string]string{
		"app.kubernetes.io/name": "cachebackend", "app.kubernetes.io/instance": "cache", "app.kubernetes.io/managed-by": "inference-cache-controller",
	}
	labels := map[string]string{"inferencecache.io/backend-type": "LMCache"}
	maps.Copy(labels, selector)
	owner := []metav1.OwnerReference{{
		APIVersion: "inferencecache.io/v1alpha1", Kind: "CacheBackend", Name: "cache", UID: "6f1c3a52-0d55-4b5e-9a37-0f1d0e6f7a11",
		Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
	}}
	for provider := range providers() {
		for kind, edit := range map[string]func(*v1alpha1.CacheBackendSpec){"Deployment": func(*v1alpha1.CacheBackendSpec) {}, "StatefulSet": statefulSet} {
			t.Run(string(provider)+"/"+kind, func(t *testing.T) {
				objects := render(t, managed(provider, edit, func(spec *v1alpha1.CacheBackendSpec) {
					spec.Autoscaling = &v1alpha1.AutoscalingSpec{MaxReplicas: 3}
				}))
				for _, object := range objects.List() {
					want := "cache"
					if object == workload.Object(objects.Secret) {
						want = "cache-store-password"
					}
					if object.GetName() != want || object.GetNamespace() != "models" {
						t.Errorf("%T is %s/%s", object, object.GetNamespace(), object.GetName())
					}
					if diff := cmp.Diff(labels, object.GetLabels()); diff != "" {
						t.Errorf("labels of %T (-want +got):\n%s", object, diff)
					}
					if diff := cmp.Diff(owner, object.GetOwnerReferences()); diff != "" {
						t.Errorf("owner of %T (-want +got):\n%s", object, diff)
					}
					if object.GetObjectKind().GroupVersionKind().Kind == "" {
						t.Errorf("%T has no kind to be applied by", object)
					}
				}
				if diff := cmp.Diff(labels, template(t, objects).Labels); diff != "" {
					t.Errorf("labels of Pods (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(selector, objects.Service.Spec.Selector); diff != "" {
					t.Errorf("selector of the Service (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestReplicas holds how many Pods a workload has, and what scales it.
func TestReplicas(t *testing.T) {
	type wanted struct {
		replicas int32
		hpa, pdb bool
	}
	scaled := func(floor *int32, ceiling int32) func(*v1alpha1.CacheBackendSpec) {
		return func(spec *v1alpha1.CacheBackendSpec) {
			spec.Autoscaling = &v1alpha1.AutoscalingSpec{MinReplicas: floor, MaxReplicas: ceiling}
		}
	}
	count := func(n int32) func(*v1alpha1.CacheBackendSpec) {
		return func(spec *v1alpha1.CacheBackendSpec) { spec.Replicas = &n }
	}
	none := func(*v1alpha1.CacheBackendSpec) {}
	const lm, redis, mooncake = v1alpha1.StorageProviderLMCacheServer, v1alpha1.StorageProviderRedis, v1alpha1.StorageProviderMooncake
	tests := map[string]struct {
		provider v1alpha1.StorageProvider
		edit     func(*v1alpha1.CacheBackendSpec)
		live     *int32
		want     wanted
	}{
		"1 by default":                              {lm, none, nil, wanted{1, false, false}},
		"spec.replicas":                             {lm, count(3), nil, wanted{3, false, true}},
		"scaled to zero":                            {lm, count(0), nil, wanted{0, false, false}},
		"below zero, as only etcd could hold it":    {lm, count(-1), nil, wanted{0, false, false}},
		"live replicas are ours without HPA":        {lm, count(2), ptr.To[int32](7), wanted{2, false, true}},
		"minReplicas under HPA":                     {lm, scaled(ptr.To[int32](2), 5), nil, wanted{2, true, true}},
		"1 under HPA without minReplicas":           {lm, scaled(nil, 5), nil, wanted{1, true, true}},
		"live replicas kept under HPA":              {lm, scaled(ptr.To[int32](2), 5), ptr.To[int32](4), wanted{4, true, true}},
		"live replicas raised to the floor":         {lm, scaled(ptr.To[int32](2), 5), ptr.To[int32](1), wanted{2, true, true}},
		"zero live replicas raised to the floor":    {lm, scaled(nil, 5), ptr.To[int32](0), wanted{1, true, true}},
		"no budget where one Pod is the most":       {lm, scaled(nil, 1), nil, wanted{1, true, false}},
		"Redis exists once":                         {redis, count(3), nil, wanted{1, false, false}},
		"Redis is not scaled":                       {redis, scaled(ptr.To[int32](2), 5), ptr.To[int32](4), wanted{1, false, false}},
		"Redis can be off":                          {redis, count(0), nil, wanted{0, false, false}},
		"a Pod on its node's network exists once":   {mooncake, count(3), nil, wanted{1, false, false}},
		"a Pod on its node's network is not scaled": {mooncake, scaled(nil, 5), nil, wanted{1, false, false}},
	}
	for name, test := range tests {
		for kind, edit := range map[string]func(*v1alpha1.CacheBackendSpec){"Deployment": none, "StatefulSet": statefulSet} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				store, _ := stores.Of(test.provider)
				objects, err := store.Render(workload.Input{Backend: managed(test.provider, test.edit, edit), LiveReplicas: test.live, Password: "p"})
				if err != nil {
					t.Fatal(err)
				}
				got := wanted{replicas(t, objects), objects.HPA != nil, objects.PDB != nil}
				if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(wanted{})); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if objects.HPA != nil && objects.HPA.Spec.ScaleTargetRef.Kind != kind {
					t.Errorf("the HPA scales a %s", objects.HPA.Spec.ScaleTargetRef.Kind)
				}
			})
		}
	}
}

// TestNoTwoAtOnce holds that a store that exists once is never doubled by a roll.
func TestNoTwoAtOnce(t *testing.T) {
	want := map[v1alpha1.StorageProvider]bool{
		v1alpha1.StorageProviderRedis: true, v1alpha1.StorageProviderMooncake: true, v1alpha1.StorageProviderLMCacheServer: false,
	}
	for provider, once := range want {
		if got := recreates(render(t, managed(provider))); got != once {
			t.Errorf("a Deployment of %s recreates: %t, want %t", provider, got, once)
		}
		if !recreates(render(t, managed(provider, statefulSet))) {
			t.Errorf("a StatefulSet of %s surges", provider)
		}
	}
	// The parameters are owned, so that they go when the strategy changes.
	if render(t, managed(v1alpha1.StorageProviderLMCacheServer)).Deployment.Spec.Strategy.RollingUpdate == nil {
		t.Error("a rolling update leaves its parameters to the defaults, which Recreate is refused with")
	}
}

// TestPodDefaults holds what is written where the template is silent.
func TestPodDefaults(t *testing.T) {
	for provider := range providers() {
		spec := template(t, render(t, managed(provider))).Spec
		if spec.SchedulerName != "default-scheduler" || ptr.Deref(spec.TerminationGracePeriodSeconds, 0) != 30 {
			t.Errorf("%s: scheduler %q, grace %v", provider, spec.SchedulerName, spec.TerminationGracePeriodSeconds)
		}
	}
}

// TestTemplateReplacesWholesale holds that a security context of the operator's is
// not mixed with ours.
func TestTemplateReplacesWholesale(t *testing.T) {
	overrides := &v1alpha1.PodTemplateOverrides{
		SecurityContext: &corev1.PodSecurityContext{FSGroup: ptr.To[int64](7)}, TerminationGracePeriodSeconds: ptr.To[int64](0), SchedulerName: "own",
	}
	for provider := range providers() {
		spec := template(t, render(t, managed(provider, func(spec *v1alpha1.CacheBackendSpec) { spec.Template = overrides }))).Spec
		if diff := cmp.Diff(overrides.SecurityContext, spec.SecurityContext); diff != "" {
			t.Errorf("%s: security context (-want +got):\n%s", provider, diff)
		}
		if spec.SchedulerName != "own" || *spec.TerminationGracePeriodSeconds != 0 {
			t.Errorf("%s: scheduler %q, grace %d", provider, spec.SchedulerName, *spec.TerminationGracePeriodSeconds)
		}
	}
}

// TestRestrictedProfile holds the Pods of every store to the restricted profile of
// Pod security, from which Mooncake departs in its host network alone.
func TestRestrictedProfile(t *testing.T) {
	for provider := range providers() {
		t.Run(string(provider), func(t *testing.T) {
			spec := template(t, render(t, managed(provider))).Spec
			if spec.HostNetwork != (provider == v1alpha1.StorageProviderMooncake) || spec.HostPID || spec.HostIPC {
				t.Errorf("host namespaces: network %t, PID %t, IPC %t", spec.HostNetwork, spec.HostPID, spec.HostIPC)
			}
			pod := spec.SecurityContext
			if !ptr.Deref(pod.RunAsNonRoot, false) || ptr.Deref(pod.RunAsUser, 0) == 0 || pod.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
				t.Errorf("security context of the Pod: %+v", pod)
			}
			if ptr.Deref(spec.AutomountServiceAccountToken, true) {
				t.Error("a token of the API is mounted")
			}
			for _, c := range spec.Containers {
				s := c.SecurityContext
				if ptr.Deref(s.AllowPrivilegeEscalation, true) || !ptr.Deref(s.ReadOnlyRootFilesystem, false) || s.Privileged != nil ||
					len(s.Capabilities.Add) > 0 || !cmp.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) {
					t.Errorf("security context of %s: %+v", c.Name, s)
				}
				if c.LivenessProbe == nil || c.StartupProbe == nil || c.ReadinessProbe == nil {
					t.Errorf("%s lacks a probe", c.Name)
				}
			}
			for _, v := range spec.Volumes {
				if v.EmptyDir == nil {
					t.Errorf("volume %s is no emptyDir", v.Name)
				}
			}
		})
	}
}

// TestResultsAreTheCallers holds that what is rendered can be changed without a
// change of the backend, which may lie in an informer's cache.
func TestResultsAreTheCallers(t *testing.T) {
	for provider := range providers() {
		backend := managed(provider, resources(&corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}),
			func(spec *v1alpha1.CacheBackendSpec) {
				spec.EngineSelector = &v1alpha1.EngineSelector{MatchLabels: map[string]string{"app": "engine"}}
				spec.RemoteStorage.LMCacheServer.Command = []string{"a", "b"}
				spec.RemoteStorage.Mooncake.Command = []string{"a", "b"}
				spec.Template = &v1alpha1.PodTemplateOverrides{
					NodeSelector: map[string]string{"pool": "a"}, Tolerations: []corev1.Toleration{{Key: "a"}},
					SecurityContext: &corev1.PodSecurityContext{RunAsUser: ptr.To[int64](1)},
				}
			})
		before := backend.DeepCopy()
		objects := render(t, backend)
		pod := template(t, objects).Spec
		pod.Containers[0].Resources.Limits[corev1.ResourceCPU] = resource.MustParse("2")
		pod.Containers[0].Args[0] = "changed"
		if len(pod.Containers[0].Command) > 0 {
			pod.Containers[0].Command[0] = "changed"
		}
		pod.NodeSelector["pool"], pod.Tolerations[0].Key, *pod.SecurityContext.RunAsUser = "changed", "changed", 2
		objects.Service.Spec.Selector["app"] = "changed"
		if objects.NetworkPolicy != nil {
			objects.NetworkPolicy.Spec.Ingress[0].From[0].PodSelector.MatchLabels["app"] = "changed"
		}
		if diff := cmp.Diff(before, backend); diff != "" {
			t.Errorf("%s: a change of the result shows in the backend (-before +after):\n%s", provider, diff)
		}
		if objects.Deployment.Labels["app"] != "" || objects.Deployment.Spec.Selector.MatchLabels["app"] != "" {
			t.Errorf("%s: objects share their labels", provider)
		}
	}
}

// TestNetworkPolicy holds who may reach a store.
func TestNetworkPolicy(t *testing.T) {
	selecting := func(spec *v1alpha1.CacheBackendSpec) {
		spec.EngineSelector = &v1alpha1.EngineSelector{MatchLabels: map[string]string{"app": "engine"}}
	}
	backend := managed(v1alpha1.StorageProviderRedis, selecting)
	store, _ := stores.Of(v1alpha1.StorageProviderRedis)
	objects, err := store.Render(workload.Input{Backend: backend, Password: "p"})
	if err != nil {
		t.Fatal(err)
	}
	if from := objects.NetworkPolicy.Spec.Ingress[0].From; len(from) != 1 || from[0].PodSelector.MatchLabels["app"] != "engine" {
		t.Errorf("without a manager %v may reach the store", from)
	}
	from := render(t, backend).NetworkPolicy.Spec.Ingress[0].From
	if len(from) != 2 || from[1].NamespaceSelector.MatchLabels["kubernetes.io/metadata.name"] != "inference-cache-system" ||
		from[1].PodSelector.MatchLabels["app.kubernetes.io/name"] != "inference-cache-manager" {
		t.Errorf("%v may reach the store", from)
	}
	if policy := render(t, managed(v1alpha1.StorageProviderMooncake)).NetworkPolicy; policy != nil {
		t.Error("a policy for a Pod on its node's network promises what it does not hold")
	}
}

// TestRenderRefuses holds what is no input.
func TestRenderRefuses(t *testing.T) {
	tests := map[string]struct {
		input func() workload.Input
		says  string
	}{
		"no backend": {func() workload.Input { return workload.Input{} }, "no backend"},
		"no UID": {func() workload.Input {
			backend := managed(v1alpha1.StorageProviderRedis)
			backend.UID = ""
			return workload.Input{Backend: backend}
		}, "no UID"},
		"no store": {func() workload.Input {
			return workload.Input{Backend: managed(v1alpha1.StorageProviderRedis, func(s *v1alpha1.CacheBackendSpec) { s.RemoteStorage = nil })}
		}, "no remote storage"},
		"external": {func() workload.Input {
			return workload.Input{Backend: managed(v1alpha1.StorageProviderRedis, func(s *v1alpha1.CacheBackendSpec) {
				s.RemoteStorage.Ownership = v1alpha1.StorageOwnershipExternal
			})}
		}, "not managed"},
		"another provider": {func() workload.Input { return workload.Input{Backend: managed(v1alpha1.StorageProviderMooncake)} }, "not a Redis"},
		"no password":      {func() workload.Input { return workload.Input{Backend: managed(v1alpha1.StorageProviderRedis)} }, "password"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			store, _ := stores.Of(v1alpha1.StorageProviderRedis)
			if _, err := store.Render(test.input()); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %v, want one with %q", err, test.says)
			}
		})
	}
}
