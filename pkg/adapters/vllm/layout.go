/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package vllm

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"inferencecache.io/inference-cache/pkg/adapters/wiring"
)

// layoutFlags are those on which the layout of KV blocks depends. A model is told
// from another by its path alone, as it is in the keys of a store.
func layoutFlags() []wiring.LayoutFlag {
	return []wiring.LayoutFlag{
		{Names: []string{"model"}},
		{Names: []string{"revision"}},
		{Names: []string{"quantization", "q"}},
		{Names: []string{"dtype"}, Default: "auto"},
		{Names: []string{"kv-cache-dtype"}, Default: "auto"},
		{Names: []string{"block-size"}},
		{Names: []string{"tensor-parallel-size", "tp"}, Default: "1"},
		{Names: []string{"pipeline-parallel-size", "pp"}, Default: "1"},
	}
}

// Layout describes the KV layout that the engine of a Pod is started with: equal
// layouts have equal descriptions, as far as flags tell. Empty if they cannot be read.
func Layout(pod *corev1.Pod) string {
	engine, err := Engine(pod)
	if err != nil {
		return ""
	}
	line, flags, err := read(engine)
	if err != nil {
		return ""
	}
	args := line.Args
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		// "vllm serve" takes the model without its flag.
		args = append([]string{"--model=" + args[0]}, args[1:]...)
	}
	layout := wiring.Layout(args, layoutFlags(), true)
	if flags.DisableHybrid != nil && *flags.DisableHybrid {
		layout += " disable-hybrid-kv-cache-manager"
	}
	if layout = strings.TrimSpace(layout); layout == "" {
		return "the engine's defaults"
	}
	return layout
}
