//go:build integration

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"inferencecache.io/inference-cache/test/programs"
)

const (
	// rounds are played even if the time is over, so that every fault has its turn.
	rounds = 4
	// together is the number of engines.
	together = 8
	// faultsPerRound happen while the load of a round goes on.
	faultsPerRound = 4
	// reportEvery so many rounds the counts are shown.
	reportEvery = 20

	mebibyte = 1 << 20
)

// soak is the whole system and what has happened to it.
type soak struct {
	servers []*server
	engines []*engine
	load    *load
	answers tally
	// half of the time is over then.
	half time.Time
	// round and faults number what comes next.
	round, faults int
	// kills are those of subscribers, restarts those of engines, losses messages
	// withheld for good, clears those of engines' caches.
	kills, restarts, losses, clears int
}

func TestSoak(t *testing.T) {
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("seed %d", *seed)
	s := &soak{servers: startServers(t), load: newLoad(*seed)}
	dir := t.TempDir()
	for i := range together {
		s.engines = append(s.engines, startEngine(t, s.servers, dir, i))
	}
	begun := time.Now()
	s.half = begun.Add(*duration / 2)
	for s.round < rounds || time.Since(begun) < *duration {
		if err := s.play(t.Context()); err != nil {
			t.Fatalf("round %d: %v", s.round, err)
		}
		if s.round++; s.round%reportEvery == 0 {
			s.report(t)
		}
	}
	for _, subresource := range []string{"observation", "snapshot"} {
		err := programs.Poll(t.Context(), func() error { return equalViews(t.Context(), s.servers, subresource) })
		if err != nil {
			t.Error(err)
		}
	}
	s.report(t)
	for i, server := range s.servers {
		if err := bounded(server.resident); err != nil {
			t.Errorf("server %d: %v", i, err)
		}
	}
	if s.answers.hits == 0 || s.answers.misses == 0 || s.kills == 0 || s.restarts == 0 || s.losses == 0 {
		t.Error("the soak tests little")
	}
}

// play is one round: load and faults, then a quiet point.
func (s *soak) play(ctx context.Context) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.load.route(groupCtx, s.servers, s.engines) })
	group.Go(func() error {
		begun := s.load.requests.Load()
		for i := range int64(faultsPerRound) {
			reached := func() error { return s.load.reached(begun + (i+1)*turns/(faultsPerRound+1)) }
			if err := programs.Poll(groupCtx, reached); err != nil {
				return err
			}
			if err := s.fault(); err != nil {
				return err
			}
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return err
	}
	for _, e := range s.engines {
		// Half of the engines with losses are asked about while they have them.
		if err := e.heal(ctx, s.load, s.load.draw(2) == 0); err != nil {
			return err
		}
	}
	if err := settle(ctx, s.load, s.servers, s.engines); err != nil {
		return err
	}
	if err := judge(ctx, s.load, s.servers, s.engines, &s.answers); err != nil {
		return err
	}
	for _, server := range s.servers {
		if err := server.measure(ctx); err != nil {
			return err
		}
	}
	// A server calls itself incomplete for a while after its start.
	return equalViews(ctx, s.servers, "snapshot", "complete")
}

// fault lets the next thing go wrong, each kind in turn, at a random engine.
func (s *soak) fault() error {
	e := s.engines[s.load.draw(len(s.engines))]
	s.faults++
	switch s.faults % 7 {
	case 0:
		s.losses++
		e.lossy = true
		e.Lose(1 + s.load.draw(3))
	case 1:
		s.kills++
		return e.killSubscriber() // it comes back at the end of the round
	case 2:
		s.kills++
		return errors.Join(e.killSubscriber(), e.subscribe())
	case 3:
		restarted, err := e.restart()
		if restarted {
			s.restarts++
		}
		return err
	case 4:
		e.DropLive(1 + s.load.draw(3))
	case 5:
		return s.victim().Restart()
	default:
		s.clears++
		return e.ResetPrefixCache()
	}
	return nil
}

// victim is a server that dies: any in the first half of the time, later always
// the last one, so that the others get old and their memory can be seen to grow.
func (s *soak) victim() *server {
	if time.Now().Before(s.half) {
		return s.servers[s.load.draw(len(s.servers))]
	}
	return s.servers[len(s.servers)-1]
}

// report shows what has happened so far.
func (s *soak) report(t *testing.T) {
	t.Helper()
	deaths := 0
	for i, server := range s.servers {
		deaths += server.Deaths()
		t.Logf("server %d: resident memory now %.0f MiB, at most %.0f MiB", i,
			server.resident[len(server.resident)-1]/mebibyte, slices.Max(server.resident)/mebibyte)
	}
	t.Logf("%d rounds: %d requests reused %d tokens; %d lookups under load were answered, %d were not; "+
		"subscribers were killed %d times, servers %d times, engines started anew %d times, cleared %d times, lost messages %d times",
		s.round, s.load.requests.Load(), s.load.reused.Load(), s.load.answered.Load(), s.load.refused.Load(),
		s.kills, deaths, s.restarts, s.clears, s.losses)
	t.Logf("at quiet points %d answers were right and above 0, %d right and 0, %d lower bounds, none wrong",
		s.answers.hits, s.answers.misses, s.answers.bounds)
}

// bounded tells memory that grows for ever from memory that has found its size:
// nothing in the second half is twice as much as the most in the first.
func bounded(resident []float64) error {
	half := len(resident) / 2
	if plateau, later := slices.Max(resident[:half]), slices.Max(resident[half:]); later > 2*plateau {
		return fmt.Errorf("resident memory grew from %.0f MiB in the first half to %.0f MiB", plateau/mebibyte, later/mebibyte)
	}
	return nil
}

func TestBounded(t *testing.T) {
	tests := map[string]struct {
		resident []float64
		grows    bool
	}{
		"a plateau":       {resident: []float64{50, 100, 110, 105, 120, 110}},
		"a restart":       {resident: []float64{50, 100, 30, 40, 90, 100}},
		"growth":          {resident: []float64{50, 60, 70, 90, 120, 150}, grows: true},
		"one measurement": {resident: []float64{50, 90}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if err := bounded(test.resident); (err != nil) != test.grows {
				t.Errorf("got %v", err)
			}
		})
	}
}
