/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/pkg/index"
)

func TestOrder(t *testing.T) {
	ids, chain := prompt(1, 100)
	both := func(t *testing.T) *fleet { return newFleet(t).engine("a").engine("b") }
	tests := map[string]struct {
		fleet func(*testing.T) *fleet
		want  string
	}{
		"more tokens first": {func(t *testing.T) *fleet {
			return both(t).holds("a", index.T1, index.Announced, chain[:3]).holds("b", index.T3, index.Announced, chain[:4])
		}, "b a"},
		"nearer tier first": {func(t *testing.T) *fleet {
			return both(t).holds("a", index.T2, index.Announced, chain).holds("b", index.T1, index.Announced, chain)
		}, "b a"},
		"the coldest block decides": {func(t *testing.T) *fleet {
			return both(t).holds("a", index.T2, index.Announced, chain).
				holds("b", index.T1, index.Announced, chain[:5]).
				apply("b", index.Change{Op: index.Store, Tier: index.T3, HasParent: true, Parent: chain[4], Depth: 5, Hashes: chain[5:]})
		}, "a b"},
		"live before lost": {func(t *testing.T) *fleet {
			return both(t).holds("a", index.T1, index.Announced, chain).holds("b", index.T1, index.Announced, chain).loses("a")
		}, "b a"},
		"less loaded first": {func(t *testing.T) *fleet {
			return both(t).holds("a", index.T1, index.Announced, chain).holds("b", index.T1, index.Announced, chain).
				reports("a", load(9)).reports("b", load(2))
		}, "b a"},
		"known load before unknown": {func(t *testing.T) *fleet {
			return both(t).holds("a", index.T1, index.Announced, chain).holds("b", index.T1, index.Announced, chain).reports("b", load(2))
		}, "b a"},
		"tier before load": {func(t *testing.T) *fleet {
			return both(t).holds("a", index.T2, index.Announced, chain).holds("b", index.T1, index.Announced, chain).
				reports("a", load(0)).reports("b", load(99))
		}, "b a"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := test.fleet(t)
			if got := f.route(Request{Tokens: ids}); pods(got) != test.want {
				t.Errorf("got %q, want %q", pods(got), test.want)
			}
			if got := f.route(Request{Tokens: ids, TopK: 1}); pods(got) != test.want[:1] {
				t.Errorf("top 1: got %q, want %q", pods(got), test.want[:1])
			}
		})
	}
}

func TestHitProbability(t *testing.T) {
	tests := map[string]struct {
		match index.Match
		want  float64
	}{
		"nothing matched": {index.Match{Exact: true}, 0},
		"certain":         {index.Match{Tokens: 16, Exact: true}, 1},
		"degraded":        {index.Match{Tokens: 16, Exact: true, State: index.Degraded}, 1},
		"a bound":         {index.Match{Tokens: 16}, 0.5},
		"stream lost":     {index.Match{Tokens: 16, Exact: true, State: index.Suspect}, 0.5},
		"not rebuilt":     {index.Match{Tokens: 16, Exact: true, State: index.Rebuilding}, 0.5},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := hitProbability(&test.match); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestTiesAreSpreadAndStable(t *testing.T) {
	const engines, prompts = 4, 200
	f := newFleet(t)
	var chains [][]uint64
	for i := range uint32(prompts) {
		_, chain := prompt(1000*i, 32)
		chains = append(chains, chain)
	}
	for i := range engines {
		pod := fmt.Sprintf("engine-%d", i)
		f.engine(pod)
		for _, chain := range chains {
			f.holds(pod, index.T1, index.Announced, chain)
		}
	}
	won := map[string]int{}
	for _, chain := range chains {
		first, again := f.route(Request{Chain: chain}), f.route(Request{Chain: chain})
		if pods(first) != pods(again) {
			t.Fatalf("equal questions got %q and %q", pods(first), pods(again))
		}
		won[first.Replicas[0].Holder.Pod]++
	}
	for i := range engines {
		if n := won[fmt.Sprintf("engine-%d", i)]; n < prompts/engines/2 {
			t.Errorf("engine-%d came first %d times in %d", i, n, prompts)
		}
	}
}

func TestAffinity(t *testing.T) {
	const engines, prompts = 5, 300
	place := func(f *fleet) []string {
		var where []string
		for i := range uint32(prompts) {
			ids, _ := prompt(1000*i, 600)
			first, later := f.route(Request{Tokens: ids[:520]}), f.route(Request{Tokens: ids})
			if first.Reason != AffinityHint || pods(first) != pods(later) {
				t.Fatalf("turns of one conversation went to %q and %q", pods(first), pods(later))
			}
			where = append(where, pods(first))
		}
		return where
	}
	f := newFleet(t)
	for i := range engines {
		f.engine(fmt.Sprintf("engine-%d", i))
	}
	before := place(f)
	f.loses("engine-2")
	after := place(f)
	moved := 0
	for i := range before {
		switch {
		case before[i] == "engine-2":
			moved++
		case before[i] != after[i]:
			t.Errorf("prompt %d moved from %s to %s", i, before[i], after[i])
		}
	}
	if moved < prompts/engines/2 || moved > prompts/engines*2 {
		t.Errorf("%d of %d prompts were on one of %d engines", moved, prompts, engines)
	}
}

func TestChainAndTokensHaveTheSameHead(t *testing.T) {
	f := newFleet(t)
	for i := range 8 {
		f.engine(fmt.Sprintf("engine-%d", i))
	}
	// The family exists, so that the tokens are hashed in its block size.
	_, other := prompt(1<<20, 32)
	f.holds("engine-0", index.T1, index.Announced, other)
	for i := range uint32(50) {
		ids, chain := prompt(1000*i, 800)
		byTokens, byChain := f.route(Request{Tokens: ids}), f.route(Request{Chain: chain})
		if diff := cmp.Diff(pods(byTokens), pods(byChain)); diff != "" {
			t.Errorf("prompt %d (-tokens +chain):\n%s", i, diff)
		}
	}
}

func TestExplanations(t *testing.T) {
	ids, chain := prompt(1, 100)
	f := newFleet(t).engine("a").holds("a", index.T2, index.Announced, chain[:3]).
		holds("a", index.T2, index.Possible, chain).reports("a", load(3))
	got := f.route(Request{Tokens: ids, Explain: true})
	want := "reuses 48 of 100 tokens (3 blocks, T2), at least; Live at sequence 3; 3 requests running or waiting"
	if got.Replicas[0].Explanation != want {
		t.Errorf("got %q, want %q", got.Replicas[0].Explanation, want)
	}
	if silent := f.route(Request{Tokens: ids}); silent.Explanation != "" || silent.Replicas[0].Explanation != "" {
		t.Errorf("an explanation that was not asked for: %+v", silent)
	}
}
