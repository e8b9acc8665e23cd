/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pod

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/adapters/vllm"
	"inferencecache.io/inference-cache/pkg/adapters/wiring"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// maybe runs one of several changes, or none.
func maybe(r *rand.Rand, changes ...func()) {
	if i := r.IntN(2 * len(changes)); i < len(changes) {
		changes[i]()
	}
}

// vary changes a Pod and a backend in the ways in which those of users differ.
func vary(r *rand.Rand, pod *corev1.Pod, backend *v1alpha1.CacheBackend, settings *Settings) {
	c := &pod.Spec.Containers[0]
	add := func(args ...string) func() { return func() { c.Args = append(c.Args, args...) } }
	maybe(r,
		add("--kv-transfer-config", `{"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both"}`),
		add(`--kv_transfer_config={"kv_connector":"LMCacheConnectorV1","kv_role":"kv_both","kv_load_failure_policy":"fail","kv_rank":1}`),
		add("--kv-t.kv_connector", "LMCacheConnectorV1", "--kv-t.kv_role", "kv_both"),
		add("--kv-transfer-config.kv_load_failure_policy", "recompute"),
		add("--kv-transfer-config", "None"), add("--kv-transfer-config="), add("--kv-transfer-config", "{}"),
		add("--kv-transfer-config", `{"kv_connector":"Other","kv_role":"kv_both"}`),
	)
	maybe(r,
		add("--kv-events-config", `{"enable_kv_cache_events":true,"publisher":"zmq","endpoint":"tcp://*:6000","topic":"t$(X)"}`),
		add("--kv-events-config.enable_kv_cache_events", "True"),
		add(`--kv-e={"publisher":"null"}`), add("--data-parallel-size", "200"), add("--dp-size=3"),
	)
	maybe(r, add("--hicache-size", "64"), add("--enable-hierarchical-cache"), add("--enable-lmcache"), add("--kv-offloading-size=1"))
	maybe(r,
		func() { c.Name = "engine" },
		func() { c.Command, c.Args = slices.Concat([]string{"/usr/bin/vllm", "serve"}, c.Args), nil },
		func() { pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "proxy"}) },
	)
	c = &pod.Spec.Containers[0]
	maybe(r,
		func() { c.Env = append(c.Env, corev1.EnvVar{Name: "PROMETHEUS_MULTIPROC_DIR", Value: "/tmp/metrics"}) },
		func() {
			c.Env = append(c.Env, corev1.EnvVar{Name: "LMCACHE_REMOTE_URL", Value: "lm://own:1"}, corev1.EnvVar{Name: "LMCACHE_CHUNK_SIZE", Value: "64"})
		},
		func() {
			c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "shm", MountPath: "/dev/shm", SubPath: "engine"})
			pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "shm", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
		},
		func() { pod.Spec.InitContainers = []corev1.Container{{Name: "download", Image: "i"}} },
	)
	maybe(r,
		func() {
			pod.Annotations = map[string]string{v1alpha1.AnnotationInjectedBy: "x/y", v1alpha1.AnnotationInjectSkipped: "forged", "own": "kept"}
		},
	)
	maybe(r,
		func() {
			backend.Annotations = map[string]string{v1alpha1.AnnotationKernelCheck: v1alpha1.KernelCheckStrict}
		},
		func() {
			backend.Annotations = map[string]string{v1alpha1.AnnotationKVLoadFailurePolicy: v1alpha1.KVLoadFailurePolicyOmit}
		},
	)
	maybe(r,
		func() { settings.NativeSidecars = false },
		func() { settings.SubscriberImage = "" },
		func() { backend.Spec.Integration.FailOpen = ptr.To(false) },
		func() {
			backend.Spec.Integration.EngineOverrides = &v1alpha1.EngineOverrides{
				Args: []string{"--kv-events-config", `{"enable_kv_cache_events":true,"publisher":"zmq"}`, "--model", "m", "--seed=1"}, SuppressArgs: []string{"--enable-metrics"},
				Env: []corev1.EnvVar{{Name: "LMCACHE_CHUNK_SIZE", Value: "8"}}, SuppressEnv: []string{"PROMETHEUS_MULTIPROC_DIR", "LMCACHE_LOCAL_CPU"},
			}
		},
	)
}

// others does to a wired Pod what clusters do before they ask again.
func others(r *rand.Rand, pod *corev1.Pod) {
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			maybe(r,
				func() { list[i].Image = "mirror.example.com/" + list[i].Image },
				func() {
					list[i].Resources.Limits = maps.Clone(list[i].Resources.Limits)
					if list[i].Resources.Limits == nil {
						list[i].Resources.Limits = corev1.ResourceList{}
					}
					list[i].Resources.Limits[corev1.ResourceEphemeralStorage] = resource.MustParse("1Gi")
				},
				func() {
					list[i].VolumeMounts = append(slices.Clone(list[i].VolumeMounts), corev1.VolumeMount{Name: "token", MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"})
				},
			)
			list[i].ImagePullPolicy = corev1.PullIfNotPresent
		}
	}
	maybe(r, func() { pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "mesh"}) })
}

// TestProperties wires many different Pods and holds what is promised of every one.
func TestProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	all := backends(t)
	names := slices.Sorted(maps.Keys(all))
	wiredOnes, refused := 0, 0
	for range 1500 {
		backend, settings := all[names[r.IntN(len(names))]].DeepCopy(), installed()
		pod := enginePod(t, backend)
		vary(r, pod, backend, &settings)
		before := pod.DeepCopy()
		wired, err := Wire(pod, backend, settings)
		if !equality.Semantic.DeepEqual(before, pod) {
			t.Fatalf("the Pod that was given changed (-before +after):\n%s", cmp.Diff(before, pod))
		}
		if err != nil {
			if wiring.Refused(err) == nil {
				t.Fatalf("not refused but failed: %v", err)
			}
			refused++
			continue
		}
		wiredOnes++
		holdWired(t, before, wired, backend)
		if again, err := Wire(wired, backend, settings); err != nil || !equality.Semantic.DeepEqual(wired, again) {
			t.Fatalf("asked again, error %v (-first +second):\n%s", err, cmp.Diff(wired, again))
		}
		others(r, wired)
		if again, err := Wire(wired, backend, settings); err != nil || !sameButKernelCheck(wired, again) {
			t.Fatalf("asked again after others, error %v (-first +second):\n%s", err, cmp.Diff(wired, again))
		}
	}
	if wiredOnes < 500 || refused < 150 {
		t.Errorf("%d Pods were wired and %d refused: the generator has lost its variety", wiredOnes, refused)
	}
}

// sameButKernelCheck compares two Pods except for the kernel check, which follows the
// engine's container.
func sameButKernelCheck(a, b *corev1.Pod) bool {
	a, b = a.DeepCopy(), b.DeepCopy()
	for _, pod := range []*corev1.Pod{a, b} {
		pod.Spec.InitContainers = slices.DeleteFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == vllm.KernelCheckContainer })
	}
	return equality.Semantic.DeepEqual(a, b)
}

// holdWired holds what is true of a wired Pod.
func holdWired(t *testing.T, before, wired *corev1.Pod, backend *v1alpha1.CacheBackend) {
	t.Helper()
	engine := wired.Spec.Containers[0]
	given := before.Spec.Containers[0]
	for _, arg := range given.Args {
		// A connector's JSON may be completed, anything else stays.
		if !slices.Contains(engine.Args, arg) && !strings.Contains(arg, "{") {
			t.Errorf("argument %q was taken away", arg)
		}
	}
	if backend.Spec.Runtime == v1alpha1.RuntimeVLLM {
		flags, err := vllm.ParseFlags(engine.Args)
		if len(engine.Command) > 0 {
			flags, err = vllm.ParseFlags(slices.Concat(engine.Command, engine.Args))
		}
		if err != nil {
			t.Errorf("vLLM would refuse %q: %v", engine.Args, err)
		}
		if !eventsOnly(backend) && (flags.Transfer == nil || flags.Transfer.Connector != "LMCacheConnectorV1" || flags.OffloadingSize != 0) {
			t.Errorf("the connector is %+v with offloading %v", flags.Transfer, flags.OffloadingSize)
		}
	}
	names := map[string]bool{}
	for _, c := range slices.Concat(wired.Spec.InitContainers, wired.Spec.Containers) {
		if names[c.Name] {
			t.Errorf("two containers are called %s", c.Name)
		}
		names[c.Name] = true
		paths := map[string]bool{}
		for _, m := range c.VolumeMounts {
			if paths[m.MountPath] || !wiring.HasVolume(wired, m.Name) {
				t.Errorf("container %s mounts %s twice, or from no volume", c.Name, m.MountPath)
			}
			paths[m.MountPath] = true
		}
	}
	if wired.Annotations[v1alpha1.AnnotationInjectedByUID] != string(backend.UID) || wired.Annotations[v1alpha1.AnnotationInjectSkipped] != "" {
		t.Errorf("annotations %v", wired.Annotations)
	}
	if before.Annotations["own"] != wired.Annotations["own"] {
		t.Error("an annotation of the user was lost")
	}
}
