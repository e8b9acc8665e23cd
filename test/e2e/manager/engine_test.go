//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"os"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/test/aggregated"
	"inferencecache.io/inference-cache/test/engine/sim"
	"inferencecache.io/inference-cache/test/programs"
)

// engines makes a Deployment of engines that the backend selects, wired by it, and
// returns its one Pod.
func (c clients) engines(t *testing.T, name string, backend *v1alpha1.CacheBackend) *corev1.Pod {
	t.Helper()
	labels := map[string]string{"app": "engine", "engine": name}
	_, err := c.AppsV1().Deployments(c.namespace).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: map[string]string{
					v1alpha1.AnnotationInjectedBy: c.namespace + "/" + backend.Name, v1alpha1.AnnotationInjectedByUID: string(backend.UID),
				}},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "sglang", Image: "example.com/engine:1"}}},
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return c.onlyPod(t, "engine="+name)
}

// onlyPod waits until one Pod of a selector runs that is not about to go.
func (c clients) onlyPod(t *testing.T, selector string) *corev1.Pod {
	t.Helper()
	var found *corev1.Pod
	eventually(t, func() error {
		pods, err := c.CoreV1().Pods(c.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			return err
		}
		found = nil
		for i := range pods.Items {
			pod := &pods.Items[i]
			if pod.DeletionTimestamp != nil {
				continue
			}
			if found != nil || pod.Status.Phase != corev1.PodRunning {
				return errNotOne
			}
			found = pod
		}
		if found == nil {
			return errNotOne
		}
		return nil
	})
	return found
}

// report has a simulated SGLang serve prompts in the name of a Pod.
func (c clients) report(t *testing.T, pod *corev1.Pod, hostBlocks int) {
	t.Helper()
	c.serve(t, pod, model, sim.Config{Engine: sim.SGLang, HostBlocks: hostBlocks})
}

// serve has a simulated engine serve prompts in the name of a Pod, and a real
// subscriber tell the index of it, until the test ends. The engine has room for one
// prompt, and in its host's memory for more if it has a host tier.
func (c clients) serve(t *testing.T, pod *corev1.Pod, modelID string, cfg sim.Config) {
	t.Helper()
	cfg.Seed, cfg.Blocks = 1, 8
	for _, address := range []*string{&cfg.EventsAddress, &cfg.ReplayAddress} {
		*address = free(t)
	}
	engine, err := sim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	c.subscribe(t, pod, engine, "--hash-scheme="+cfg.Engine, "--model-id="+modelID)
	for prompt := range uint32(4) {
		tokens := make([]uint32, 64)
		for i := range tokens {
			tokens[i] = prompt<<8 + uint32(i) + 1
		}
		if _, err := engine.Request(t.Context(), sim.Request{Tokens: tokens, MaxTokens: 1}); err != nil {
			t.Fatal(err)
		}
	}
}

func (c clients) subscribe(t *testing.T, pod *corev1.Pod, engine *sim.Engine, args ...string) {
	t.Helper()
	token, err := environment.Installation.ServiceAccountToken(t.Context(), c.namespace, "default", &pod.ObjectMeta)
	if err != nil {
		t.Fatal(err)
	}
	bundle, err := environment.Installation.TrustBundle(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	tokenFile, authority, log := filepath.Join(dir, "token"), filepath.Join(dir, "ca.crt"), filepath.Join(dir, "log")
	for file, content := range map[string]string{tokenFile: token, authority: string(bundle)} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	process, err := starting.Start(programs.Command{
		Path: filepath.Join(environment.Programs, programs.Subscriber), Log: log, Tied: true,
		Args: append([]string{
			"--engine-endpoint=" + engine.EventsEndpoint(), "--engine-replay-endpoint=" + engine.ReplayEndpoint(), "--engine-metrics-url=",
			"--server=" + environment.Installation.Replicas()[0].GRPCAddress(),
			"--tls-server-name=" + aggregated.GRPCName, "--token-file=" + tokenFile, "--ca-file=" + authority,
			"--replica-id=" + pod.Name, "--tenant-id=" + c.namespace, "--metrics-bind-address=" + free(t),
		}, args...),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(programs.Tail(log))
		}
		if err := process.Kill(); err != nil {
			t.Error(err)
		}
	})
}

func free(t *testing.T) string {
	t.Helper()
	address, err := programs.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}
