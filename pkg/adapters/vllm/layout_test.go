/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package vllm

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestLayout(t *testing.T) {
	const defaults = "the engine's defaults"
	tests := map[string]struct {
		command, args []string
		want          string
	}{
		"defaults":                        {want: defaults},
		"defaults that are given":         {args: []string{"--dtype", "auto", "-tp", "1", "--no-disable-hybrid-kv-cache-manager"}, want: defaults},
		"the model by its flag":           {args: []string{"--model", "/models/llama"}, want: "model=/models/llama"},
		"the model after serve":           {command: []string{"vllm", "serve"}, args: []string{"/models/llama", "--port", "8000"}, want: "model=/models/llama"},
		"the hybrid manager is off":       {args: []string{"--disable-hybrid-kv-cache-manager"}, want: "disable-hybrid-kv-cache-manager"},
		"everything":                      {args: []string{"--kv_cache_dtype=fp8", "--pp", "2", "--tp=4", "--block-size", "32", "--disable-hybrid"}, want: "kv-cache-dtype=fp8 block-size=32 tensor-parallel-size=4 pipeline-parallel-size=2 disable-hybrid-kv-cache-manager"},
		"a shell, whose flags are inside": {command: []string{"sh", "-c", "vllm serve /m"}},
		"a file, which is not read":       {args: []string{"--config", "/f.yaml"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: Container, Command: tc.command, Args: tc.args}}}}
			if got := Layout(pod); got != tc.want {
				t.Errorf("layout %q, want %q", got, tc.want)
			}
		})
	}
	two := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a"}, {Name: "b"}}}}
	if got := Layout(two); got != "" {
		t.Errorf("a Pod without an engine has layout %q", got)
	}
}
