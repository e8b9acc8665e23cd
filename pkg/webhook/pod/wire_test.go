/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pod

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"inferencecache.io/inference-cache/pkg/adapters/wiring"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

var update = flag.Bool("update", false, "write the patches in testdata/golden anew; read the diff")

// TestGolden holds the patch that every example of a backend makes of an engine's Pod.
func TestGolden(t *testing.T) {
	for name, backend := range backends(t) {
		t.Run(name, func(t *testing.T) {
			pod := enginePod(t, backend)
			before := backend.DeepCopy()
			wired, err := Wire(pod, backend, installed())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, backend); diff != "" {
				t.Errorf("the backend was changed (-before +after):\n%s", diff)
			}
			got := operations(t, patch(logr.Discard(), pod, wired))
			golden := filepath.Join("testdata", "golden", name+".json")
			if *update {
				if err := os.WriteFile(golden, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("patch (-want +got), written anew by go test -update:\n%s", diff)
			}
			again, err := Wire(wired, backend, installed())
			if err != nil {
				t.Fatalf("asked again: %v", err)
			}
			if diff := cmp.Diff(wired, again); diff != "" {
				t.Errorf("asked again, the Pod changed (-first +second):\n%s", diff)
			}
		})
	}
}

// operations writes a patch with its operations in order of their paths.
func operations(t *testing.T, response admission.Response) []byte {
	t.Helper()
	raw, err := json.Marshal(response.Patches)
	if err != nil {
		t.Fatal(err)
	}
	var list []map[string]any
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(list, func(a, b map[string]any) int { return strings.Compare(a["path"].(string), b["path"].(string)) })
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(list); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestRefusals has a Pod for every reason why one is not wired.
func TestRefusals(t *testing.T) {
	type change func(*corev1.Pod, *v1alpha1.CacheBackend, *Settings)
	args := func(args ...string) change {
		return func(pod *corev1.Pod, _ *v1alpha1.CacheBackend, _ *Settings) {
			pod.Spec.Containers[0].Args = append(pod.Spec.Containers[0].Args, args...)
		}
	}
	override := func(args ...string) change {
		return func(_ *corev1.Pod, backend *v1alpha1.CacheBackend, _ *Settings) {
			backend.Spec.Integration.EngineOverrides = &v1alpha1.EngineOverrides{Args: args}
		}
	}
	mount := func(m corev1.VolumeMount, source corev1.VolumeSource) change {
		return func(pod *corev1.Pod, _ *v1alpha1.CacheBackend, _ *Settings) {
			pod.Spec.Containers[0].VolumeMounts = append(pod.Spec.Containers[0].VolumeMounts, m)
			pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: m.Name, VolumeSource: source})
		}
	}
	container := func(name string) change {
		return func(pod *corev1.Pod, _ *v1alpha1.CacheBackend, _ *Settings) {
			pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: name})
		}
	}
	volume := func(name string) change {
		return func(pod *corev1.Pod, _ *v1alpha1.CacheBackend, _ *Settings) {
			pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name})
		}
	}
	memory := corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}
	tests := map[string]struct {
		backend string
		change  change
		want    string
	}{
		"several containers, none named": {"vllm-host-only", func(pod *corev1.Pod, _ *v1alpha1.CacheBackend, _ *Settings) {
			pod.Spec.Containers[0].Name = "engine"
			pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "proxy"})
		}, wiring.ReasonEngineContainer},
		"a shell": {"vllm-host-only", func(pod *corev1.Pod, _ *v1alpha1.CacheBackend, _ *Settings) {
			pod.Spec.Containers[0].Command = []string{"/bin/sh", "-c"}
			pod.Spec.Containers[0].Args = []string{"exec vllm serve m"}
		}, wiring.ReasonShellCommand},
		"a shell for events": {"cachebackend-events-only", func(pod *corev1.Pod, _ *v1alpha1.CacheBackend, _ *Settings) {
			pod.Spec.Containers[0].Command = []string{"tini", "--", "bash", "-lc", "vllm serve m"}
		}, wiring.ReasonShellCommand},
		"a file of vLLM":                {"vllm-host-only", args("--config", "/etc/vllm.yaml"), wiring.ReasonConfigFile},
		"a file of SGLang":              {"cachebackend-sglang-redis", args("--config=/etc/sglang.yaml"), wiring.ReasonConfigFile},
		"arguments that vLLM refuses":   {"vllm-host-only", args("--kv-transfer-config", "{"), wiring.ReasonEngineArguments},
		"arguments that SGLang refuses": {"cachebackend-sglang-redis", args("--enable-lmcache=yes"), wiring.ReasonEngineArguments},
		"events that SGLang refuses":    {"cachebackend-sglang-redis", args("--kv-events-config={"), wiring.ReasonEngineArguments},
		"another connector":             {"vllm-host-only", args("--kv-t", `{"kv_connector":"NixlConnector","kv_role":"kv_both"}`), wiring.ReasonOwnConnector},
		"another role":                  {"vllm-host-only", args(`--kv_transfer_config={"kv_connector":"LMCacheConnectorV1","kv_role":"kv_producer"}`), wiring.ReasonOwnConnector},
		"another connector by members":  {"vllm-host-only", args("--kv-transfer.kv_connector=X", "--kv-transfer.kv_role=kv_both"), wiring.ReasonOwnConnector},
		"native offloading":             {"vllm-host-only", args("--kv-offloading-s", "4"), wiring.ReasonOwnConnector},
		"offloading by an override":     {"vllm-host-only", override("--kv-offloading-size=4"), wiring.ReasonOwnConnector},
		"a connector by an override":    {"vllm-host-only", override("--kv-transfer", `{"kv_connector":"X","kv_role":"kv_both"}`), wiring.ReasonOwnConnector},
		"HiCache beside LMCache":        {"cachebackend-sglang-redis", args("--enable-hierarchical-cache"), wiring.ReasonOwnConnector},
		"LMCache of its own":            {"cachebackend-sglang-redis", args("--lmcache-config-file=/own.yaml"), wiring.ReasonOwnConnector},
		"LMCache beside HiCache":        {"cachebackend-sglang-hicache", args("--enable-lmcache"), wiring.ReasonOwnConnector},
		"another size":                  {"cachebackend-sglang-hicache", args("--hicache-size", "32"), wiring.ReasonOwnConnector},
		"a ratio beside a size":         {"cachebackend-sglang-hicache", args("--hicache-ratio", "2"), wiring.ReasonOwnConnector},
		"a size twice":                  {"cachebackend-sglang-hicache", args("--hicache-size", "64", "--hicache-size=64"), wiring.ReasonOwnConnector},
		"HiCache twice":                 {"cachebackend-sglang-hicache", args("--enable-hierarchical-cache", "--enable-hierarchical-cache"), wiring.ReasonOwnConnector},
		"somebody's subscriber":         {"cachebackend-events-only", container("kvevent-subscriber"), wiring.ReasonReservedName},
		"somebody's identity":           {"cachebackend-events-only", volume("inference-cache-identity"), wiring.ReasonReservedName},
		"somebody's metrics":            {"vllm-host-only", volume("inference-cache-metrics"), wiring.ReasonReservedName},
		"somebody's kernel check":       {"vllm-host-only", container("lmcache-kernel-check"), wiring.ReasonReservedName},
		"somebody's worker":             {"cachebackend-sglang-redis", container("lmcache-mp-worker"), wiring.ReasonReservedName},
		"somebody's configuration":      {"cachebackend-sglang-redis", volume("lmcache-config"), wiring.ReasonReservedName},
		"somebody's shared memory":      {"cachebackend-sglang-redis", volume("lmcache-dshm"), wiring.ReasonReservedName},
		"a mount over the configuration": {
			"cachebackend-sglang-redis", mount(corev1.VolumeMount{Name: "x", MountPath: "/etc/lmcache/"}, memory), wiring.ReasonReservedName,
		},
		"shared memory read-only": {
			"cachebackend-sglang-redis", mount(corev1.VolumeMount{Name: "shm", MountPath: "/dev/shm", ReadOnly: true}, memory), wiring.ReasonSharedMemory,
		},
		"shared memory by an expression": {
			"cachebackend-sglang-redis", mount(corev1.VolumeMount{Name: "shm", MountPath: "/dev/shm", SubPathExpr: "$(X)"}, memory), wiring.ReasonSharedMemory,
		},
		"shared memory from a Secret": {
			"cachebackend-sglang-redis",
			mount(corev1.VolumeMount{Name: "shm", MountPath: "/dev/shm"}, corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "s"}}),
			wiring.ReasonSharedMemory,
		},
		"no native sidecars":  {"cachebackend-sglang-redis", func(_ *corev1.Pod, _ *v1alpha1.CacheBackend, s *Settings) { s.NativeSidecars = false }, wiring.ReasonNativeSidecars},
		"no image for events": {"cachebackend-events-only", func(_ *corev1.Pod, _ *v1alpha1.CacheBackend, s *Settings) { s.SubscriberImage = "" }, wiring.ReasonNoSubscriber},
		"no model for events": {"cachebackend-events-only", func(_ *corev1.Pod, b *v1alpha1.CacheBackend, _ *Settings) { b.Spec.Observation.ModelID = "" }, wiring.ReasonNoSubscriber},
		"events switched off": {"cachebackend-events-only", args(`--kv-events-config={"enable_kv_cache_events":false}`), wiring.ReasonEventsDisabled},
		"events that nobody hears": {
			"cachebackend-events-only", args(`--kv-events-config={"enable_kv_cache_events":true,"endpoint":"tcp://collector:5557"}`), wiring.ReasonEventsDisabled,
		},
		"an endpoint without a port": {
			"vllm-external", func(_ *corev1.Pod, b *v1alpha1.CacheBackend, _ *Settings) {
				b.Spec.RemoteStorage.Endpoint = "lm://host"
			}, wiring.ReasonEndpoint,
		},
		"a store that vLLM does not speak to": {
			"vllm-external", func(_ *corev1.Pod, b *v1alpha1.CacheBackend, _ *Settings) {
				b.Spec.RemoteStorage.Provider, b.Spec.RemoteStorage.Endpoint = v1alpha1.StorageProviderRedis, "host:6379"
			}, wiring.ReasonUnsupported,
		},
		"vLLM with HiCache": {
			"vllm-external", func(_ *corev1.Pod, b *v1alpha1.CacheBackend, _ *Settings) {
				b.Spec.Type = v1alpha1.CacheBackendTypeSGLangHiCache
			}, wiring.ReasonUnsupported,
		},
	}
	all, reached := backends(t), map[string]bool{}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			backend, settings := all[tc.backend].DeepCopy(), installed()
			pod := enginePod(t, backend)
			tc.change(pod, backend, &settings)
			before := pod.DeepCopy()
			wired, err := Wire(pod, backend, settings)
			refusal := wiring.Refused(err)
			if refusal == nil || refusal.Reason != tc.want || refusal.Message == "" || wired != nil {
				t.Fatalf("error %v, want reason %s", err, tc.want)
			}
			if diff := cmp.Diff(before, pod); diff != "" {
				t.Errorf("the Pod was changed (-before +after):\n%s", diff)
			}
			reached[tc.want] = true
		})
	}
	for _, reason := range wiring.Reasons() {
		// Mixed layouts take other Pods: TestLayouts has them.
		if !reached[reason] && reason != wiring.ReasonMixedKVLayouts {
			t.Errorf("no Pod is left unwired for reason %s", reason)
		}
	}
}
