/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stores_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"inferencecache.io/inference-cache/pkg/adapters"
	"inferencecache.io/inference-cache/pkg/adapters/stores"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// rendered is what tells the stores apart.
type rendered struct {
	Container, Image, PullPolicy, Command, Args, Ports string
	Readiness                                          string
	HostNetwork                                        bool
	DNSPolicy                                          corev1.DNSPolicy
	ClusterIP, ServicePorts, Endpoint, Strategy        string
	MemoryRequest, MemoryLimit                         string
	Binding                                            adapters.Binding
}

// TestRenderedStorage writes down each provider as it is rendered by default.
func TestRenderedStorage(t *testing.T) {
	want := map[v1alpha1.StorageProvider]rendered{
		v1alpha1.StorageProviderRedis: {
			Container: "redis-l2", Image: "docker.io/library/redis:7.4-alpine", PullPolicy: "IfNotPresent",
			Args:  `redis-server --save  --appendonly no --protected-mode no --maxmemory 6871947674 --maxmemory-policy allkeys-lru`,
			Ports: "6379 redis", Readiness: "redis 3/10/6", DNSPolicy: corev1.DNSClusterFirst,
			ServicePorts: "6379", Endpoint: "cache.models.svc:6379", Strategy: "Recreate",
			MemoryRequest: "4Gi", MemoryLimit: "8Gi", Binding: "resp",
		},
		v1alpha1.StorageProviderLMCacheServer: {
			Container: "lmcache-server", Image: "lmcache/standalone:v0.4.7", PullPolicy: "IfNotPresent",
			Command: "lmcache_server", Args: "0.0.0.0 65432 cpu", Ports: "65432 lmcache", Readiness: "lmcache 5/10/6", DNSPolicy: corev1.DNSClusterFirst,
			ServicePorts: "65432", Endpoint: "cache.models.svc:65432", Strategy: "RollingUpdate",
			MemoryRequest: "4Gi", MemoryLimit: "8Gi", Binding: "lm",
		},
		v1alpha1.StorageProviderMooncake: {
			Container: "mooncake-master", Image: "docker.io/kvcacheai/mooncake:0.3.11.post1", PullPolicy: "IfNotPresent",
			Command: "mooncake_master",
			Args: "--rpc_port=50051 --metrics_port=9003 --enable_http_metadata_server=true " +
				"--http_metadata_server_host=0.0.0.0 --http_metadata_server_port=8080",
			Ports: "50051 mooncake-rpc, 8080 mooncake-meta, 9003 metrics", Readiness: "mooncake-rpc 5/10/6",
			HostNetwork: true, DNSPolicy: corev1.DNSClusterFirstWithHostNet,
			ClusterIP: "None", ServicePorts: "50051, 8080", Endpoint: "cache.models.svc:50051", Strategy: "Recreate",
			MemoryRequest: "4Gi", MemoryLimit: "8Gi", Binding: "mooncakestore",
		},
	}
	for _, declared := range adapters.All().Stores {
		t.Run(string(declared.Provider), func(t *testing.T) {
			backend := managed(declared.Provider, func(spec *v1alpha1.CacheBackendSpec) { spec.RemoteStorage.Redis.Auth = v1alpha1.RedisAuthNone })
			objects := render(t, backend)
			pod := objects.Deployment.Spec.Template.Spec
			c := pod.Containers[0]
			var ports, servicePorts []string
			for _, port := range c.Ports {
				ports = append(ports, resource.NewQuantity(int64(port.ContainerPort), resource.DecimalSI).String()+" "+port.Name)
			}
			for _, port := range objects.Service.Spec.Ports {
				servicePorts = append(servicePorts, resource.NewQuantity(int64(port.Port), resource.DecimalSI).String())
			}
			got := rendered{
				Container: c.Name, Image: c.Image, PullPolicy: string(c.ImagePullPolicy),
				Command: strings.Join(c.Command, " "), Args: strings.Join(c.Args, " "), Ports: strings.Join(ports, ", "),
				Readiness: c.ReadinessProbe.TCPSocket.Port.String() + " " + timing(c.ReadinessProbe), HostNetwork: pod.HostNetwork, DNSPolicy: pod.DNSPolicy,
				ClusterIP: objects.Service.Spec.ClusterIP, ServicePorts: strings.Join(servicePorts, ", "), Endpoint: objects.Endpoint(),
				Strategy: string(objects.Deployment.Spec.Strategy.Type), MemoryRequest: c.Resources.Requests.Memory().String(),
				MemoryLimit: c.Resources.Limits.Memory().String(), Binding: declared.Binding,
			}
			if diff := cmp.Diff(want[declared.Provider], got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if endpoint := stores.Endpoint(backend); endpoint != objects.Endpoint() {
				t.Errorf("published as %s, served at %s", endpoint, objects.Endpoint())
			}
		})
	}
}

// timing writes delay, period and failures of a probe.
func timing(p *corev1.Probe) string {
	number := func(n int32) string { return resource.NewQuantity(int64(n), resource.DecimalSI).String() }
	return number(p.InitialDelaySeconds) + "/" + number(p.PeriodSeconds) + "/" + number(p.FailureThreshold)
}

// TestRedisSizesItsMemory holds the four fifths of the limit.
func TestRedisSizesItsMemory(t *testing.T) {
	limited := func(memory string) *corev1.ResourceRequirements {
		return &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}}
	}
	tests := map[string]struct {
		block *corev1.ResourceRequirements
		want  string
	}{
		"by default, 8Gi":    {nil, "6871947674"},
		"empty block":        {&corev1.ResourceRequirements{}, "6871947674"},
		"limit of CPU alone": {&corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}}, "6871947674"},
		"limit of zero":      {limited("0"), "6871947674"},
		"1Gi":                {limited("1Gi"), "858993460"},
		"a few bytes":        {limited("7"), "6"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			args := strings.Join(template(t, render(t, managed(v1alpha1.StorageProviderRedis, resources(test.block)))).Spec.Containers[0].Args, " ")
			if !strings.Contains(args, " --maxmemory "+test.want+" ") {
				t.Errorf("arguments %s, want --maxmemory %s", args, test.want)
			}
		})
	}
}

// TestResources holds what a container asks for.
func TestResources(t *testing.T) {
	requests := func(cpu string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}
	}
	limits := func(cpu string) *corev1.ResourceRequirements {
		return &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}}
	}
	limitsAnd := func(limit, request string) corev1.ResourceRequirements {
		both := *limits(limit)
		both.Requests = requests(request).Requests
		return both
	}
	some, zero := requests("1"), requests("0")
	tests := map[string]struct {
		block  *corev1.ResourceRequirements
		scaled bool
		want   corev1.ResourceRequirements
	}{
		"empty block asks for none":           {&corev1.ResourceRequirements{}, false, corev1.ResourceRequirements{}},
		"no CPU without autoscaling":          {&zero, false, zero},
		"250m under autoscaling":              {&corev1.ResourceRequirements{}, true, requests("250m")},
		"250m in the place of zero":           {&zero, true, requests("250m")},
		"CPU that is given stays":             {&some, true, some},
		"not more than the limit":             {limits("100m"), true, limitsAnd("100m", "100m")},
		"250m below a limit that leaves room": {limits("2"), true, limitsAnd("2", "250m")},
		"not more than a limit of zero":       {limits("0"), true, limitsAnd("0", "0")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for provider := range providers() {
				got := template(t, render(t, managed(provider, resources(test.block), func(spec *v1alpha1.CacheBackendSpec) {
					if test.scaled {
						spec.Autoscaling = &v1alpha1.AutoscalingSpec{MaxReplicas: 2}
					}
				}))).Spec.Containers[0].Resources
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", provider, diff)
				}
			}
		})
	}
}

// TestCommandOverride holds that the first part is the command and the rest its
// arguments.
func TestCommandOverride(t *testing.T) {
	command := func(spec *v1alpha1.CacheBackendSpec) {
		spec.RemoteStorage.LMCacheServer.Command = []string{"sh", "-c", "exec x"}
		spec.RemoteStorage.Mooncake.Command = []string{"sh", "-c", "exec x"}
	}
	for _, provider := range []v1alpha1.StorageProvider{v1alpha1.StorageProviderLMCacheServer, v1alpha1.StorageProviderMooncake} {
		c := template(t, render(t, managed(provider, command))).Spec.Containers[0]
		if !cmp.Equal(c.Command, []string{"sh"}) || !cmp.Equal(c.Args, []string{"-c", "exec x"}) {
			t.Errorf("%s: %q with %q", provider, c.Command, c.Args)
		}
	}
}
