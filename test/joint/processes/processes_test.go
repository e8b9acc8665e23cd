/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package processes

import (
	"context"
	"testing"

	"golang.org/x/sync/errgroup"

	"inferencecache.io/inference-cache/test/programs"
)

const (
	// rounds of histories are played one after the other, those of a round
	// together: they share the server.
	rounds, together = 4, 5
)

func TestKilledProcesses(t *testing.T) {
	t.Parallel()
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
	kills, restarts, hits := 0, 0, 0
	for round := range rounds {
		var histories []*history
		for i := range together {
			h, err := newHistory(s, dir, round*together+i)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := h.close(); err != nil {
					t.Error(err)
				}
			})
			histories = append(histories, h)
		}
		all(t, histories, (*history).live)
		all(t, histories, (*history).end)
		for _, h := range histories {
			kills, restarts, hits = kills+h.kills, restarts+h.restarts, hits+h.hits
		}
	}
	t.Logf("%d histories: the server was killed %d times, subscribers %d times, engines started anew %d times; %d answers were right and above 0",
		rounds*together, s.Deaths(), kills, restarts, hits)
	if s.Deaths() == 0 || kills < rounds*together || restarts == 0 || hits < rounds*together*judged/4 {
		t.Error("the histories test little")
	}
}

// all does one thing with all histories at the same time.
func all(t *testing.T, histories []*history, do func(*history, context.Context) error) {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	for _, h := range histories {
		group.Go(func() error { return do(h, ctx) })
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}
