/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexservertest

import (
	"testing"
	"time"

	"inferencecache.io/inference-cache/pkg/index"
)

// Await polls until a condition holds, and fails the test when it does not in time.
func Await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.NewTimer(Patience)
	defer deadline.Stop()
	poll := time.NewTicker(2 * time.Millisecond)
	defer poll.Stop()
	for !holds() {
		select {
		case <-deadline.C:
			t.Fatalf("waited in vain for %s", what)
		case <-poll.C:
		}
	}
}

// AwaitState waits until the index has a holder, as the only one, in a state.
func (s *Instance) AwaitState(t testing.TB, state index.State) {
	t.Helper()
	Await(t, "state "+state.String(), func() bool {
		views, _ := s.Index.Holders(s.Clock.Now())
		return len(views) == 1 && views[0].State == state
	})
}
