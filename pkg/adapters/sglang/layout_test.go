/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sglang

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
		"defaults that are given":         {args: []string{"--tp", "1", "--kv-cache-dtype", "auto"}, want: defaults},
		"the model":                       {args: []string{"--model-path", "/models/llama"}, want: "model-path=/models/llama"},
		"the model by its other name":     {args: []string{"--model=/models/llama"}, want: "model-path=/models/llama"},
		"everything":                      {args: []string{"--page-size", "64", "--pp-size", "2", "--tensor-parallel-size=4", "--kv-cache-dtype", "fp8_e5m2"}, want: "kv-cache-dtype=fp8_e5m2 page-size=64 tp-size=4 pp-size=2"},
		"a shell, whose flags are inside": {command: []string{"sh", "-c", "python3 -m sglang.launch_server"}},
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
