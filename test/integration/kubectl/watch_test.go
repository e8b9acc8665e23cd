//go:build integration

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kubectl

import (
	"context"
	"testing"

	"inferencecache.io/inference-cache/test/transcript"
)

// TestWatchCacheBackends watches an object through its life.
func TestWatchCacheBackends(t *testing.T) {
	if err := transcript.WatchBackends(t.Context(), newKubectl(t).Shell); err != nil {
		t.Fatal(err)
	}
}

// TestWatchCacheIndices watches the live index while an engine comes.
func TestWatchCacheIndices(t *testing.T) {
	kubectl := newKubectl(t)
	start := func(context.Context) error { return kubectl.startEngine(t) }
	if err := transcript.WatchIndex(t.Context(), kubectl.Shell, start); err != nil {
		t.Fatal(err)
	}
}
