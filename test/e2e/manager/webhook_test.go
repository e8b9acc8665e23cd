//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/test/programs"
)

// exampleBackends returns the backends of artifacts/examples, by file.
func exampleBackends(t *testing.T) map[string]*v1alpha1.CacheBackend {
	t.Helper()
	root, err := programs.Repository()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "artifacts", "examples", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	backends := map[string]*v1alpha1.CacheBackend{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(data, []byte("kind: CacheBackend\n")) {
			continue
		}
		backend := &v1alpha1.CacheBackend{}
		if err := yaml.UnmarshalStrict(data, backend); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		backends[strings.TrimSuffix(filepath.Base(file), ".yaml")] = backend
	}
	return backends
}

// enginePod returns a Pod that a backend selects, as a user would write it.
func enginePod(backend *v1alpha1.CacheBackend) *corev1.Pod {
	name, args := "vllm", []string{"--model", "m", "--port=8000"}
	if backend.Spec.Runtime == v1alpha1.RuntimeSGLang {
		name, args = "sglang", []string{"--model-path", "m", "--port=30000"}
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "engine-", Labels: maps.Clone(backend.Spec.EngineSelector.MatchLabels)},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: name, Image: "example.com/engine:1", Args: args,
			Ports: []corev1.ContainerPort{{ContainerPort: 8000}},
		}}},
	}
}

// dryRun has a Pod created for show: everything is asked and checked, nothing kept.
func (c clients) dryRun(t *testing.T, pod *corev1.Pod) (*corev1.Pod, error) {
	t.Helper()
	return c.CoreV1().Pods(c.namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
}

// variations are what users do to Pods, and what the wiring of any backend has to bear.
func variations() []func(*corev1.Pod) {
	engine := func(change func(*corev1.Container)) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { change(&pod.Spec.Containers[0]) }
	}
	return []func(*corev1.Pod){
		engine(func(c *corev1.Container) {
			c.Command, c.Args = slices.Concat([]string{"python3", "serve"}, c.Args), nil
		}),
		func(pod *corev1.Pod) {
			pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "shm", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}})
			pod.Spec.Containers[0].VolumeMounts = append(pod.Spec.Containers[0].VolumeMounts, corev1.VolumeMount{Name: "shm", MountPath: "/dev/shm", SubPath: "engine"})
		},
		engine(func(c *corev1.Container) {
			c.Resources.Limits = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("64Gi")}
		}),
		engine(func(c *corev1.Container) {
			c.SecurityContext = &corev1.SecurityContext{RunAsUser: ptr.To[int64](1000), RunAsNonRoot: ptr.To(true), ReadOnlyRootFilesystem: ptr.To(true)}
		}),
		engine(func(c *corev1.Container) {
			c.Env = append(c.Env, corev1.EnvVar{Name: "PROMETHEUS_MULTIPROC_DIR", Value: "/tmp"}, corev1.EnvVar{Name: "LMCACHE_CHUNK_SIZE", Value: "64"})
		}),
		engine(func(c *corev1.Container) {
			c.Args = append(c.Args, "--kv-events-config", `{"enable_kv_cache_events":true,"publisher":"zmq","endpoint":"tcp://*:6000","topic":"$(X)"}`)
		}),
		func(pod *corev1.Pod) {
			pod.Spec.InitContainers = append(pod.Spec.InitContainers, corev1.Container{Name: "download", Image: "example.com/download:1"})
		},
		func(pod *corev1.Pod) {
			pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "proxy", Image: "example.com/proxy:1"})
		},
		func(pod *corev1.Pod) { pod.Spec.RestartPolicy = corev1.RestartPolicyNever },
		func(pod *corev1.Pod) { pod.Spec.HostNetwork = true },
		func(pod *corev1.Pod) { pod.Spec.AutomountServiceAccountToken = ptr.To(false) },
		func(pod *corev1.Pod) {
			pod.Spec.SecurityContext = &corev1.PodSecurityContext{FSGroup: ptr.To[int64](2000), RunAsUser: ptr.To[int64](3000)}
		},
	}
}

// TestWebhook wires Pods of many kinds to every example. What comes out of it the
// cluster takes, and asking again changes nothing.
func TestWebhook(t *testing.T) {
	c := newClients(t)
	examples := exampleBackends(t)
	for i, name := range slices.Sorted(maps.Keys(examples)) {
		t.Run(name, func(t *testing.T) {
			backend, err := c.ours.InferencecacheV1alpha1().CacheBackends(c.namespace).Create(t.Context(), examples[name], metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			// The manager may learn of the backend after us.
			eventually(t, func() error {
				pod, err := c.dryRun(t, enginePod(backend))
				if err == nil && pod.Annotations[v1alpha1.AnnotationInjectedByUID] != string(backend.UID) {
					err = fmt.Errorf("not wired: annotations %v", pod.Annotations)
				}
				return err
			})
			random := rand.New(rand.NewPCG(7, uint64(i)))
			for range 20 {
				pod := enginePod(backend)
				for _, vary := range variations() {
					if random.IntN(3) == 0 {
						vary(pod)
					}
				}
				c.wireTwice(t, pod, backend)
			}
		})
	}
}

// wireTwice has a Pod wired, and what came out of it once more.
func (c clients) wireTwice(t *testing.T, pod *corev1.Pod, backend *v1alpha1.CacheBackend) {
	t.Helper()
	wired, err := c.dryRun(t, pod)
	if err != nil {
		t.Errorf("%v; the Pod was %s", err, text(t, pod.Spec))
		return
	}
	holdWired(t, wired, c.namespace+"/"+backend.Name)
	again := wired.DeepCopy()
	again.ObjectMeta = metav1.ObjectMeta{GenerateName: "engine-", Labels: wired.Labels, Annotations: wired.Annotations}
	if again, err = c.dryRun(t, again); err != nil {
		t.Errorf("asked again: %v", err)
		return
	}
	if diff := cmp.Diff(text(t, wired.Spec), text(t, again.Spec)); diff != "" {
		t.Errorf("asked again (-first +second):\n%s", diff)
	}
}

func text(t *testing.T, spec corev1.PodSpec) string {
	t.Helper()
	// Drawn anew for every Pod.
	spec.Volumes = slices.DeleteFunc(slices.Clone(spec.Volumes), func(v corev1.Volume) bool { return strings.HasPrefix(v.Name, "kube-api-access-") })
	data, err := yaml.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func holdWired(t *testing.T, pod *corev1.Pod, backend string) {
	t.Helper()
	if got := pod.Annotations[v1alpha1.AnnotationInjectedBy]; got != backend {
		t.Errorf("wired by %q, want %q; annotations %v", got, backend, pod.Annotations)
		return
	}
	at := slices.IndexFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == "kvevent-subscriber" })
	if at < 0 {
		t.Errorf("no subscriber in %s", text(t, pod.Spec))
		return
	}
	subscriber := pod.Spec.InitContainers[at]
	if subscriber.Image != subscriberImage || subscriber.RestartPolicy == nil || *subscriber.RestartPolicy != corev1.ContainerRestartPolicyAlways {
		t.Errorf("subscriber %+v", subscriber)
	}
}

// TestWebhookLeavesOut has Pods that nothing is done to, and one that asks for it.
func TestWebhookLeavesOut(t *testing.T) {
	c := newClients(t)
	backend := c.create(t, "cache", v1alpha1.CacheBackendSpec{
		Runtime: v1alpha1.RuntimeVLLM, EngineSelector: &v1alpha1.EngineSelector{MatchLabels: map[string]string{"app": "engine"}},
		Observation: &v1alpha1.ObservationSpec{ModelID: model},
	})
	eventually(t, func() error {
		pod, err := c.dryRun(t, enginePod(backend))
		if err == nil && pod.Annotations[v1alpha1.AnnotationInjectedBy] == "" {
			err = fmt.Errorf("not wired: annotations %v", pod.Annotations)
		}
		return err
	})
	tests := map[string]struct {
		change func(*corev1.Pod)
		want   string
	}{
		"by its own wish":    {func(pod *corev1.Pod) { pod.Annotations = map[string]string{v1alpha1.AnnotationSkipInject: "true"} }, v1alpha1.InjectSkippedByAnnotation},
		"flags in a file":    {func(pod *corev1.Pod) { pod.Spec.Containers[0].Args = []string{"--config", "/f.yaml"} }, "config-file"},
		"selected by nobody": {func(pod *corev1.Pod) { pod.Labels = nil }, ""},
		"forged, selected by none": {func(pod *corev1.Pod) {
			pod.Labels, pod.Annotations = nil, map[string]string{v1alpha1.AnnotationInjectedBy: c.namespace + "/cache"}
		}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := enginePod(backend)
			tc.change(pod)
			got, err := c.dryRun(t, pod)
			if err != nil {
				t.Fatal(err)
			}
			if got.Annotations[v1alpha1.AnnotationInjectSkipped] != tc.want || got.Annotations[v1alpha1.AnnotationInjectedBy] != "" {
				t.Errorf("annotations %v, want reason %q", got.Annotations, tc.want)
			}
			if len(got.Spec.InitContainers) > 0 || !slices.Equal(got.Spec.Containers[0].Args, pod.Spec.Containers[0].Args) {
				t.Errorf("changed: %+v", got.Spec)
			}
		})
	}
}

// TestTrustBundle follows the certificates of the index into a namespace and, with
// the last backend, out of it.
func TestTrustBundle(t *testing.T) {
	c := newClients(t)
	want, err := environment.Installation.TrustBundle(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	backend := c.create(t, "cache", v1alpha1.CacheBackendSpec{
		Runtime: v1alpha1.RuntimeVLLM, EngineSelector: &v1alpha1.EngineSelector{MatchLabels: map[string]string{"app": "engine"}},
		Observation: &v1alpha1.ObservationSpec{ModelID: model},
	})
	copies := c.CoreV1().ConfigMaps(c.namespace)
	eventually(t, func() error {
		got, err := copies.Get(t.Context(), "inference-cache-ca", metav1.GetOptions{})
		if err == nil && got.Data["ca.crt"] != string(want) {
			err = fmt.Errorf("the copy has %q", got.Data["ca.crt"])
		}
		return err
	})
	got, err := copies.Patch(t.Context(), "inference-cache-ca", types.MergePatchType, []byte(`{"data":{"ca.crt":"undone"}}`), metav1.PatchOptions{})
	if err != nil || got.Data["ca.crt"] != "undone" {
		t.Fatalf("%v, %v", got, err)
	}
	eventually(t, func() error {
		got, err := copies.Get(t.Context(), "inference-cache-ca", metav1.GetOptions{})
		if err == nil && got.Data["ca.crt"] != string(want) {
			err = fmt.Errorf("the copy has %q", got.Data["ca.crt"])
		}
		return err
	})
	if err := c.ours.InferencecacheV1alpha1().CacheBackends(c.namespace).Delete(t.Context(), backend.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		_, err := copies.Get(t.Context(), "inference-cache-ca", metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		default:
			return errors.New("the copy is still there")
		}
	})
}
