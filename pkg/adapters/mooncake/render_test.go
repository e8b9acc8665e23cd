/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mooncake

import "testing"

// TestOnlyThePublishedImageIsHelped holds whose search path is replaced.
func TestOnlyThePublishedImageIsHelped(t *testing.T) {
	tests := map[string]bool{
		DefaultImage:                                              true,
		"kvcacheai/mooncake":                                      true,
		"kvcacheai/mooncake:0.3.13":                               true,
		"registry.example:5000/kvcacheai/mooncake":                true,
		"registry.example/docker.io/kvcacheai/mooncake@sha256:00": true,
		"registry.example/kvcacheai/mooncake:1@sha256:00":         true,
		"registry.example/own/mooncake:0.3.11":                    false,
		"registry.example/notkvcacheai/mooncake":                  false,
		"registry.example/kvcacheai/mooncake-own:1":               false,
		"": false,
	}
	for image, want := range tests {
		if got := len(env(image)) > 0; got != want {
			t.Errorf("%q: the search path is replaced: %t, want %t", image, got, want)
		}
	}
}
