/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"inferencecache.io/inference-cache/pkg/controller/readiness"
)

func TestLayoutOfPods(t *testing.T) {
	runs := func(image string, args ...string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Spec.Containers = []corev1.Container{{Name: "engine", Image: image, Args: args}}
		}
	}
	forged := func(pod *corev1.Pod) { pod.Annotations[annotationLayout] = "as the others" }
	tests := map[string]struct {
		pod  *corev1.Pod
		want string
	}{
		"vLLM":                    {with(enginePod("e"), runs("vllm", "--model", "/m", "--block-size=32")), "model=/m block-size=32"},
		"SGLang":                  {with(enginePod("e"), runs("sglang", "--enable-lmcache", "--model", "/m")), "model-path=/m"},
		"what its owner claims":   {with(enginePod("e"), runs("vllm", "--model", "/m"), forged), "model=/m"},
		"a shell":                 {with(enginePod("e"), runs("vllm", "sh", "-c", "vllm serve /m"), forged), ""},
		"a Pod that is not wired": {with(enginePod("e"), runs("vllm", "--model", "/m"), unwired), ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var pod any = tc.pod
			// The cache may transform what it has transformed.
			for range 2 {
				var err error
				if pod, err = stripPod(pod); err != nil {
					t.Fatal(err)
				}
			}
			if got := pod.(*corev1.Pod).Annotations[annotationLayout]; got != tc.want {
				t.Errorf("layout %q, want %q", got, tc.want)
			}
		})
	}
}

// TestLayoutsAreCompared has two engines of one backend differ.
func TestLayoutsAreCompared(t *testing.T) {
	h := newHarness(t)
	for name, size := range map[string]string{"b": "64", "a": "32"} {
		pod, err := stripPod(with(enginePod(name), func(pod *corev1.Pod) {
			pod.Spec.Containers[0].Image = "engine"
			pod.Spec.Containers[0].Args = []string{"--enable-lmcache", "--page-size", size}
		}))
		if err != nil {
			t.Fatal(err)
		}
		if err := h.client.Create(t.Context(), pod.(*corev1.Pod)); err != nil {
			t.Fatal(err)
		}
	}
	engines, err := observeEngines(t.Context(), h.client, newBackend(managedRedis))
	if err != nil {
		t.Fatal(err)
	}
	want := []readiness.PodNote{{Pod: "a", Note: "page-size=32"}, {Pod: "b", Note: "page-size=64"}}
	if diff := cmp.Diff(want, engines.Layouts); diff != "" {
		t.Errorf("layouts (-want +got):\n%s", diff)
	}
}
