/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package processes

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"inferencecache.io/inference-cache/test/programs"
)

// TestDeadEngine lets an engine die beside a subscriber that goes on, and kills
// the subscriber when it knows that: the next one has never heard the engine.
func TestDeadEngine(t *testing.T) {
	t.Parallel() // it waits most of its time
	dir := t.TempDir()
	s, err := programs.StartServer(t.Context(), &binaries.Starting, binaries.server, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	h, err := newHistory(s, dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	dead := false
	t.Cleanup(func() {
		if h.subscriber != nil {
			if err := h.subscriber.Kill(); err != nil {
				t.Error(err)
			}
		}
		if !dead {
			_ = h.engine.Close()
		}
	})
	if err := h.end(t.Context()); err != nil {
		t.Fatal(err)
	}
	dead = true
	if err := h.engine.Close(); err != nil {
		t.Fatal(err)
	}
	h.awaitState(t, "Suspect")
	if err := h.subscriber.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := h.subscribe(); err != nil {
		t.Fatal(err)
	}
	h.awaitState(t, "")
}

// awaitState waits until the server shows the engine in a state, or not at all.
func (h *history) awaitState(t *testing.T, want string) {
	t.Helper()
	err := programs.Poll(t.Context(), func() error {
		got, err := h.state(t.Context())
		if err == nil && got != want {
			err = fmt.Errorf("state %q, want %q", got, want)
		}
		return err
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, programs.Tail(filepath.Join(h.dir, h.name+".log")))
	}
}

// state is what the server says of the engine, nothing when it does not know it.
func (h *history) state(ctx context.Context) (string, error) {
	replicas, err := h.server.State(ctx, tenant, h.name)
	if err != nil || len(replicas) == 0 {
		return "", err
	}
	return replicas[0].GetState(), nil
}
