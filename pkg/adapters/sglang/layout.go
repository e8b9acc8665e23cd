/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sglang

import (
	corev1 "k8s.io/api/core/v1"

	"inferencecache.io/inference-cache/pkg/adapters/wiring"
)

// layoutFlags are those on which the layout of KV blocks depends. A model is told
// from another by its path alone, as it is in the keys of a store.
func layoutFlags() []wiring.LayoutFlag {
	return []wiring.LayoutFlag{
		{Names: []string{"model-path", "model"}},
		{Names: []string{"revision"}},
		{Names: []string{"quantization"}},
		{Names: []string{"dtype"}, Default: "auto"},
		{Names: []string{"kv-cache-dtype"}, Default: "auto"},
		{Names: []string{"page-size"}},
		{Names: []string{"tp-size", "tp", "tensor-parallel-size"}, Default: "1"},
		{Names: []string{"pp-size", "pp", "pipeline-parallel-size"}, Default: "1"},
	}
}

// Layout describes the KV layout that the engine of a Pod is started with: equal
// layouts have equal descriptions, as far as flags tell. Empty if they cannot be read.
func Layout(pod *corev1.Pod) string {
	engine, err := Engine(pod)
	if err != nil {
		return ""
	}
	line, _, err := Read(engine)
	if err != nil {
		return ""
	}
	if layout := wiring.Layout(line.Args, layoutFlags(), false); layout != "" {
		return layout
	}
	return "the engine's defaults"
}
