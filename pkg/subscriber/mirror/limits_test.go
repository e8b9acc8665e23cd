/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import (
	"fmt"
	"strings"
	"testing"

	"inferencecache.io/inference-cache/pkg/kvevents"
)

func TestLimits(t *testing.T) {
	limits := Limits{Blocks: 50, Ghosts: 10, Unplaced: 10, Scopes: 3}
	tests := map[string]struct {
		event func(i uint64) []kvevents.Event
		check func(Stats) bool
	}{
		"ghosts": {
			func(i uint64) []kvevents.Event {
				return one(stored(hashes(i), blocks(uint32(i))), removed(hashes(i)))
			},
			func(s Stats) bool { return s.Known == 10 && s.Ghosts == 10 && s.Contents == 10 },
		},
		"parked": {
			func(i uint64) []kvevents.Event { return one(stored(hashes(i), blocks(uint32(i)), parent(1_000_000+i))) },
			func(s Stats) bool { return s.Known == 10 && s.Unplaced == 10 && s.Dropped == 90 },
		},
		"blocks": {
			func(i uint64) []kvevents.Event { return one(stored(hashes(i), blocks(uint32(i)))) },
			func(s Stats) bool { return s.Known == 50 && s.Refused == 50 },
		},
		"scopes": {
			func(i uint64) []kvevents.Event {
				return one(stored(hashes(i), blocks(uint32(i)), lora(fmt.Sprint("l", i))))
			},
			func(s Stats) bool { return s.Known == 3 && s.Refused == 97 },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(Options{Limits: limits})
			for i := range uint64(100) {
				r.send(t, tc.event(i)...)
				r.checkInvariants(t)
			}
			if s := r.Stats(); !tc.check(s) {
				t.Errorf("stats %+v", s)
			}
		})
	}
}

func TestNamesThatCannotBeReported(t *testing.T) {
	for name, adapter := range map[string]string{
		"control character": "a\x00b", "not UTF-8": "\xff\xfe", "too long": strings.Repeat("x", 513),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(Options{})
			r.send(t, stored(hashes(1), blocks(1), lora(adapter)))
			if s := r.Stats(); s.Refused != 1 || s.Known != 0 || len(r.Adapters()) != 0 {
				t.Errorf("stats %+v, adapters %q; want one block refused", s, r.Adapters())
			}
		})
	}
	r := newRig(Options{})
	r.send(t, stored(hashes(1), blocks(1), spec("new\x07kind")))
	if got := r.holder.groups[0].SpecKind; got != unknownSpec {
		t.Errorf("kind %q, want %q", got, unknownSpec)
	}
}

// TestParentsAreRemembered evicts chains whose first blocks are still used as
// parents: those stay known while others are forgotten.
func TestParentsAreRemembered(t *testing.T) {
	r := newRig(Options{Limits: Limits{Ghosts: 5}})
	r.send(t, stored(hashes(1), blocks(1), inWindow(0, 5)), removed(hashes(1), inGroup(0)))
	for i := range uint64(50) {
		r.send(t, stored(hashes(100+i), blocks(uint32(100+i)), parent(1), inWindow(0, 5)))
		r.send(t, removed(hashes(100+i), inGroup(0)))
	}
	r.send(t, stored(hashes(99), blocks(99), parent(1), inWindow(0, 5)))
	if tokens, _ := r.holder.lookup(prompt{tokens: promptOf(1, 99)}); tokens != 2*testBlock {
		t.Errorf("%d tokens behind an evicted parent, want %d", tokens, 2*testBlock)
	}
}

func TestAudit(t *testing.T) {
	fill := func(r *rig) {
		// The engine drops a hash with its last copy, but only says so once.
		for range 3 {
			r.send(t, stored(hashes(1, 2), blocks(1, 2)), stored(hashes(2), blocks(2), parent(1)), removed(hashes(2)), removed(hashes(1)))
		}
	}
	tests := map[string]struct {
		rule     RemovalRule
		capacity int64
		changes  int64
		tokens   int
	}{
		"more copies than blocks": {Auto, 2, 1, 0},
		"enough blocks":           {Auto, 100, 0, 0},
		"capacity unknown":        {Auto, 0, 0, 0},
		"told not to":             {PerCopy, 2, 0, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(Options{Removals: tc.rule})
			r.SetCapacity(tc.capacity)
			fill(r)
			r.checkInvariants(t)
			if got := r.Stats().RuleChanges; got != tc.changes {
				t.Errorf("%d changes of the rule, want %d", got, tc.changes)
			}
			held := len(r.holder.places)
			if (held == 0) != (tc.changes == 1) {
				t.Errorf("%d places held after %d changes of the rule", held, tc.changes)
			}
		})
	}
}

func TestSGLangBefore059(t *testing.T) {
	old := stored(hashes(1, 2), blocks(1, 2))
	old.Items = 6
	r := newRig(Options{Engine: SGLang})
	r.send(t, old)
	r.send(t, cleared(), old, removed(hashes(1)))
	if len(r.holder.places) > 0 || !strings.Contains(r.holder.confidence.Degraded, "0.5.9") {
		t.Errorf("reported %v with %+v, want nothing and the reason", r.holder.places, r.holder.confidence)
	}
	newer := old
	newer.Items = 7
	r = newRig(Options{Engine: SGLang})
	r.send(t, newer)
	if tokens, _ := r.holder.lookup(prompt{tokens: promptOf(1, 2)}); tokens != 2*testBlock {
		t.Errorf("0.5.9 answers %d tokens, want %d", tokens, 2*testBlock)
	}
}

func TestDegraded(t *testing.T) {
	r := newRig(Options{})
	r.Degrade("history")
	r.send(t, stored(hashes(1), blocks(1)))
	if got := r.holder.confidence.Degraded; got != "history" {
		t.Errorf("degraded %q, want the reason", got)
	}
	r.send(t, cleared())
	if got := r.holder.confidence.Degraded; got != "" {
		t.Errorf("degraded %q after a clear, want nothing", got)
	}
	r.Apply(&kvevents.Batch{Malformed: 2})
	if got := r.Confidence().Degraded; got == "" || r.Stats().Malformed != 2 {
		t.Errorf("degraded %q with %d malformed events, want a reason and 2", got, r.Stats().Malformed)
	}
}

func TestStatsAddUp(t *testing.T) {
	r := newRig(Options{})
	r.send(t, stored(hashes(1), blocks(1)), removed(hashes(1, 9)), stored(hashes(5), nil, medium("CPU")), stored(hashes(5), blocks(5), medium("cpu")), removed(hashes(5), medium("cpu")))
	r.send(t, stored(hashes(6), blocks(6), medium("TAPE")), removed(hashes(6), medium("TAPE")), cleared())
	want := Stats{StoredEvents: 4, RemovedEvents: 3, Clears: 1, Foreign: 2, UnknownMedium: 2, UnknownRemovals: 1, UnknownStores: 1}
	if got := r.Stats(); got != want {
		t.Errorf("stats %+v, want %+v", got, want)
	}
	want.Known = 3
	if got := want.Plus(Stats{Clears: 2, Known: 100}); got.Clears != 3 || got.Known != 3 {
		t.Errorf("sum %+v, want 3 clears and the newer mirror's 3 hashes", got)
	}
}
