//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/test/engine/sim"
	"inferencecache.io/inference-cache/test/programs"
)

var update = flag.Bool("update", false, "write testdata/examples anew; read the diff")

// example is a backend of artifacts/examples, and the way it goes.
type example struct {
	// backend is its file, and engine that of its engines if it comes with some.
	backend, engine string
	// applied is the reason of condition Ready that it comes to without engines.
	applied string
	// supply is what it waits for besides, and supplied the reason once that is there.
	supply   *corev1.Secret
	supplied string
	// reported is the reason after an engine has reported, which has room for
	// hostBlocks in its host's memory. Nothing is asked of engines when it is empty.
	reported   string
	hostBlocks int
	// told is the reason of the last Event.
	told string
}

// gated is an example that is ready once its engines report.
func gated(backend string) example {
	return example{
		backend: backend, applied: v1alpha1.ReasonAwaitingFirstKVEvent,
		reported: v1alpha1.ReasonKVEventsObserved, told: v1alpha1.ReasonKVEventsObserved,
	}
}

// samples has an example for every mode, for every provider and for both owners of a
// store.
func samples() map[string]example {
	// unmatched is all that is told of a backend that no event of an engine makes ready.
	const unmatched = "EngineSelectorUnmatched"
	withEngine := gated("with-engine/backend.yaml")
	withEngine.engine = "with-engine/engine.yaml"
	return map[string]example{
		"lmcache":          gated("cachebackend-vllm-lmcacheserver.yaml"),
		"lmcache-cpu":      gated("cachebackend-lmcache-cpu.yaml"),
		"cpu-override":     gated("cachebackend-cpu-override.yaml"),
		"events-only":      gated("cachebackend-events-only.yaml"),
		"mooncake":         gated("cachebackend-vllm-mooncake.yaml"),
		"sglang":           gated("cachebackend-sglang-redis.yaml"),
		"sglang-host-only": gated("cachebackend-host-only.yaml"),
		"with-engine":      withEngine,
		"external": {
			backend: "cachebackend-external.yaml", applied: v1alpha1.ReasonCredentialsMissing,
			supply: &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Name: "redis-credentials"}, StringData: map[string]string{"password": "secret"},
			},
			supplied: v1alpha1.ReasonExternalEndpointAccepted, told: unmatched,
		},
		"sglang-hicache": {
			backend: "cachebackend-sglang-hicache.yaml", applied: v1alpha1.ReasonAwaitingHiCacheEvents,
			reported: v1alpha1.ReasonHiCacheActive, hostBlocks: 64, told: unmatched,
		},
		"with-override": {
			backend: "cachebackend-with-override.yaml", applied: v1alpha1.ReasonExternalEndpointAccepted, told: unmatched,
		},
	}
}

// TestExamples applies every example of a backend as a user does, and holds all that
// its conditions and its Events say from then until an engine has reported.
func TestExamples(t *testing.T) {
	t.Parallel()
	prepareNodes(t)
	covered := map[string]bool{}
	for name, tc := range samples() {
		covered[strings.TrimSuffix(tc.backend, ".yaml")] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClients(t)
			got := c.live(t, tc)
			golden := filepath.Join("testdata", "examples", name+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("%s (-want +got), written anew by go test -update:\n%s", golden, diff)
			}
		})
	}
	for name := range exampleBackends(t) {
		// The others are those of the demo, in which the index runs alone.
		if strings.HasPrefix(name, "cachebackend-") && !covered[name] {
			t.Errorf("example %s is not applied", name)
		}
	}
}

// prepareNodes gives the nodes what examples ask of theirs.
func prepareNodes(t *testing.T) {
	t.Helper()
	c := newClients(t).CoreV1().Nodes()
	list, err := c.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		name := list.Items[i].Name
		label := []byte(`{"metadata":{"labels":{"node.example.com/memory":"large"}}}`)
		if _, err := c.Patch(t.Context(), name, types.MergePatchType, label, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		devices := []byte(`{"status":{"capacity":{"nvidia.com/gpu":"8"},"allocatable":{"nvidia.com/gpu":"8"}}}`)
		if _, err := c.Patch(t.Context(), name, types.MergePatchType, devices, metav1.PatchOptions{}, "status"); err != nil {
			t.Fatal(err)
		}
	}
}

// live takes an example through its life, and writes down what is said of it.
func (c clients) live(t *testing.T, tc example) string {
	t.Helper()
	story := c.follow(t)
	c.apply(t, tc.backend)
	backend := story.until(t, "applied", tc.applied)
	if tc.supply != nil {
		if _, err := c.CoreV1().Secrets(c.namespace).Create(t.Context(), tc.supply, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		story.until(t, "Secret "+tc.supply.Name+" created", tc.supplied)
	}
	if tc.reported != "" {
		c.start(t, tc, backend)
		story.until(t, "an engine reports", tc.reported)
	}
	c.awaitEvents(t, backend.Name, tc.told)
	return story.String() + c.told(t, backend.Name)
}

// apply applies a file of the examples.
func (c clients) apply(t *testing.T, file string) {
	t.Helper()
	root, err := programs.Repository()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), environment.Kubectl, "--kubeconfig="+environment.Cluster.Kubeconfig(), "--namespace="+c.namespace,
		"apply", "--filename="+filepath.Join(root, "artifacts", "examples", file))
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("apply %s: %v\n%s", file, err, output)
	}
}

// start makes engines that a backend wires, one of which reports from then on.
func (c clients) start(t *testing.T, tc example, backend *v1alpha1.CacheBackend) {
	t.Helper()
	selector := backend.Spec.EngineSelector.MatchLabels
	if tc.engine != "" {
		c.apply(t, tc.engine)
	} else {
		pod := enginePod(backend)
		_, err := c.AppsV1().Deployments(c.namespace).Create(t.Context(), &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: "engine"},
			Spec: appsv1.DeploymentSpec{
				Selector: &metav1.LabelSelector{MatchLabels: selector},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: pod.Labels}, Spec: pod.Spec},
			},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	pod := c.onlyPod(t, labels.SelectorFromSet(selector).String())
	holdWired(t, pod, c.namespace+"/"+backend.Name)
	engine := sim.VLLM
	if backend.Spec.Runtime == v1alpha1.RuntimeSGLang {
		engine = sim.SGLang
	}
	c.serve(t, pod, backend.Spec.Observation.ModelID, sim.Config{Engine: engine, HostBlocks: tc.hostBlocks})
}
