/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"inferencecache.io/inference-cache/pkg/index"
)

// round are figures that make sums easy to follow: a token takes 1 ms to
// compute, 0.1 ms to load from T2 and 0.5 ms from T3.
var round = Costs{Prefill: 1, T2: 0.1, T3: 0.5, WaitingTokens: 100, Running: 2, StatsMaxAge: time.Minute}

func TestQueue(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	rate := func(v float64) *float64 { return &v }
	now := start.Add(time.Hour)
	fresh := now.Add(-time.Minute)
	tests := map[string]struct {
		stats *index.Stats
		want  float64
		known bool
	}{
		"no statistics":           {nil, 0, false},
		"nothing about requests":  {&index.Stats{Time: fresh, HitTokens: n(5)}, 0, false},
		"idle":                    {&index.Stats{Time: fresh, Running: n(0), Waiting: n(0)}, 0, true},
		"running":                 {&index.Stats{Time: fresh, Running: n(3)}, 6, true},
		"waiting":                 {&index.Stats{Time: fresh, Waiting: n(2)}, 200, true},
		"both":                    {&index.Stats{Time: fresh, Running: n(3), Waiting: n(2)}, 206, true},
		"measured twice as fast":  {&index.Stats{Time: fresh, Waiting: n(2), PrefillRate: rate(2000)}, 100, true},
		"measured implausibly":    {&index.Stats{Time: fresh, Waiting: n(2), PrefillRate: rate(1e9)}, 25, true},
		"measured to stand still": {&index.Stats{Time: fresh, Waiting: n(2), PrefillRate: rate(0)}, 1600, true},
		"too old":                 {&index.Stats{Time: fresh.Add(-1), Running: n(3)}, 0, false},
		"from the future":         {&index.Stats{Time: now.Add(time.Hour), Running: n(3)}, 6, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, known := round.queue(test.stats, now.Add(-round.StatsMaxAge))
			if got != test.want || known != test.known {
				t.Errorf("got %v, %v, want %v, %v", got, known, test.want, test.known)
			}
		})
	}
}

// TestScore has a prompt of 160 tokens, of which engine a holds 64, beside
// engine b.
func TestScore(t *testing.T) {
	ids, chain := prompt(1, 160)
	held := func(t *testing.T, tier index.Tier, c index.Certainty) *fleet {
		return newFleet(t).engine("a").engine("b").holds("a", tier, c, chain[:4])
	}
	tests := map[string]struct {
		fleet func(*testing.T) *fleet
		score float64
		cost  Cost
		prob  float64
	}{
		"in T1": {func(t *testing.T) *fleet { return held(t, index.T1, index.Announced) }, 64, Cost{Prefill: 96}, 1},
		"in T2": {func(t *testing.T) *fleet { return held(t, index.T2, index.Announced) }, 57.6, Cost{Reload: 6.4, Prefill: 96}, 1},
		"in T3": {func(t *testing.T) *fleet { return held(t, index.T3, index.Announced) }, 32, Cost{Reload: 32, Prefill: 96}, 1},
		"in two tiers": {func(t *testing.T) *fleet {
			return held(t, index.T1, index.Announced).apply("a", index.Change{
				Op: index.Store, Tier: index.T2, HasParent: true, Parent: chain[3], Depth: 4, Hashes: chain[4:6],
			})
		}, 92.8, Cost{Reload: 3.2, Prefill: 64}, 1},
		"inferred": {func(t *testing.T) *fleet { return held(t, index.T2, index.Inferred) }, 28.8, Cost{Reload: 3.2, Prefill: 128}, 0.5},
		"stream lost": {func(t *testing.T) *fleet { return held(t, index.T1, index.Announced).loses("a") },
			32, Cost{Prefill: 128}, 0.5},
		"more than could be reported": {func(t *testing.T) *fleet {
			return held(t, index.T1, index.Announced).apply("a", index.Change{Op: index.SetConfidence, Confidence: index.Confidence{Degraded: "full"}})
		}, 64, Cost{Prefill: 96}, 1},
		"busy": {func(t *testing.T) *fleet {
			return held(t, index.T1, index.Announced).reports("a", running(5)).reports("b", running(0))
		}, 54, Cost{Queue: 10, Prefill: 96}, 1},
		"too busy to be worth it": {func(t *testing.T) *fleet {
			return held(t, index.T1, index.Announced).reports("a", waiting(1)).reports("b", running(0))
		}, -36, Cost{Queue: 100, Prefill: 96}, 1},
		"the others are busy": {func(t *testing.T) *fleet {
			return held(t, index.T1, index.Announced).reports("a", running(0)).reports("b", waiting(1))
		}, 164, Cost{Prefill: 96}, 1},
		"a lost replica is no alternative": {func(t *testing.T) *fleet {
			return held(t, index.T1, index.Announced).reports("a", running(5)).reports("b", running(0)).loses("b")
		}, 64, Cost{Queue: 10, Prefill: 96}, 1},
		"unknown load is the others' mean": {func(t *testing.T) *fleet {
			return held(t, index.T1, index.Announced).engine("c").reports("b", running(4)).reports("c", running(8))
		}, 60, Cost{Queue: 12, Prefill: 96}, 1},
		"everybody holds it": {func(t *testing.T) *fleet {
			return held(t, index.T1, index.Announced).holds("b", index.T2, index.Announced, chain[:4])
		}, 64, Cost{Prefill: 96}, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := test.fleet(t)
			f.policy = &Policy{Costs: round}
			got := f.route(Request{Tokens: ids}).Replicas[0]
			near := cmpopts.EquateApprox(0, 1e-9)
			if diff := cmp.Diff([]float64{test.score, test.prob}, []float64{got.Score, got.HitProbability}, near); diff != "" {
				t.Errorf("score and probability (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.cost, got.Cost, near); diff != "" {
				t.Errorf("cost (-want +got):\n%s", diff)
			}
		})
	}
}

// TestScoreOfUnknownLength asks without the prompt's length: what is not asked
// about is to be computed everywhere and changes no score.
func TestScoreOfUnknownLength(t *testing.T) {
	_, chain := prompt(1, 160)
	f := newFleet(t).engine("a").engine("b").holds("a", index.T1, index.Announced, chain[:4])
	f.policy = &Policy{Costs: round}
	tests := map[string]struct {
		request Request
		ttft    float64
	}{
		"chain":             {Request{Chain: chain}, 96},
		"chain with counts": {Request{Chain: chain[:5], ChainCounts: []int32{16, 16, 16, 16, 16}}, 16},
		"chain and length":  {Request{Chain: chain, PromptTokens: 200}, 136},
		"hash":              {Request{PrefixHash: &chain[3]}, 0},
		"hash and length":   {Request{PrefixHash: &chain[3], PromptTokens: 100}, 36},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := f.route(test.request).Replicas[0]
			if got.Score != 64 || got.Cost.TTFT() != test.ttft {
				t.Errorf("got score %v and %v ms, want 64 and %v ms", got.Score, got.Cost.TTFT(), test.ttft)
			}
		})
	}
}

func TestTokensByTier(t *testing.T) {
	ids, chain := prompt(1, 160)
	f := newFleet(t).engine("a").holds("a", index.T1, index.Announced, chain[:2]).
		apply("a", index.Change{Op: index.Store, Tier: index.T2, HasParent: true, Parent: chain[1], Depth: 2, Hashes: chain[2:5]}).
		apply("a", index.Change{Op: index.Store, Tier: index.T3, HasParent: true, Parent: chain[4], Depth: 5, Hashes: chain[5:6]})
	got := f.route(Request{Tokens: ids}).Replicas[0]
	if got.Tokens != 96 || got.T2Tokens != 48 || got.T3Tokens != 16 || got.Tier != index.T3 {
		t.Errorf("got %+v, want 96 tokens, 48 of them in T2 and 16 in T3", got)
	}
}
