/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/pkg/index"
)

func TestOrder(t *testing.T) {
	ids, chain := prompt(1, 100)
	both := func(t *testing.T) *fleet { return newFleet(t).engine("a").engine("b") }
	equal := func(t *testing.T) *fleet {
		return both(t).holds("a", index.T1, index.Announced, chain).holds("b", index.T1, index.Announced, chain)
	}
	tests := map[string]struct {
		fleet func(*testing.T) *fleet
		want  string
	}{
		"more tokens first": {func(t *testing.T) *fleet {
			return both(t).holds("a", index.T1, index.Announced, chain[:3]).holds("b", index.T1, index.Announced, chain[:4])
		}, "b a"},
		"more tokens of a far tier before fewer": {func(t *testing.T) *fleet {
			return both(t).holds("a", index.T1, index.Announced, chain[:3]).holds("b", index.T3, index.Announced, chain[:6])
		}, "b a"},
		"fewer tokens before more that are slow to load": {func(t *testing.T) *fleet {
			return both(t).holds("a", index.T1, index.Announced, chain[:5]).holds("b", index.T3, index.Announced, chain[:6])
		}, "a b"},
		"nearer tier first": {func(t *testing.T) *fleet {
			return both(t).holds("a", index.T2, index.Announced, chain).holds("b", index.T1, index.Announced, chain)
		}, "b a"},
		"live before lost":             {func(t *testing.T) *fleet { return equal(t).loses("a") }, "b a"},
		"live before lost when loaded": {func(t *testing.T) *fleet { return equal(t).loses("a").reports("b", running(4)) }, "b a"},
		"less running first":           {func(t *testing.T) *fleet { return equal(t).reports("a", running(9)).reports("b", running(2)) }, "b a"},
		"less waiting first":           {func(t *testing.T) *fleet { return equal(t).reports("a", waiting(1)).reports("b", running(99)) }, "b a"},
		"known load before unknown":    {func(t *testing.T) *fleet { return equal(t).reports("b", running(2)) }, "b a"},
		"a short queue before a longer match": {func(t *testing.T) *fleet {
			return both(t).holds("a", index.T1, index.Announced, chain).holds("b", index.T1, index.Announced, chain[:3]).
				reports("a", waiting(1)).reports("b", running(0))
		}, "b a"},
		"announced before inferred": {func(t *testing.T) *fleet {
			return both(t).holds("a", index.T2, index.Inferred, chain).holds("b", index.T2, index.Announced, chain)
		}, "b a"},
		"announced before inferred when loaded": {func(t *testing.T) *fleet {
			return both(t).holds("a", index.T2, index.Inferred, chain).holds("b", index.T2, index.Announced, chain).
				reports("a", running(0)).reports("b", running(3))
		}, "b a"},
		"exact before a bound": {func(t *testing.T) *fleet {
			return both(t).holds("a", index.T1, index.Announced, chain[:4]).holds("b", index.T1, index.Announced, chain[:4]).
				apply("a", index.Change{Op: index.SetConfidence, Confidence: index.Confidence{Unresolved: 1, Unbounded: 1}})
		}, "b a"},
		"what is only possible comes last": {func(t *testing.T) *fleet {
			return both(t).holds("a", index.T1, index.Possible, chain).holds("b", index.T1, index.Announced, chain).
				reports("a", running(0)).reports("b", waiting(50))
		}, "b a"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := test.fleet(t)
			got := f.route(Request{Tokens: ids})
			if pods(got) != test.want {
				t.Errorf("got %q, want %q", pods(got), test.want)
			}
			if !slices.IsSortedFunc(got.Replicas, func(a, b Replica) int { return int((b.Score - a.Score) * 1e6) }) {
				t.Errorf("scores are not in order: %+v", got.Replicas)
			}
			if got := f.route(Request{Tokens: ids, TopK: 1}); pods(got) != test.want[:1] {
				t.Errorf("top 1: got %q, want %q", pods(got), test.want[:1])
			}
		})
	}
}

// TestTopIsTheHeadOfAll compares every bound on an answer with the whole answer.
func TestTopIsTheHeadOfAll(t *testing.T) {
	f := newFleet(t)
	_, chain := prompt(1, 640)
	for i := range 40 {
		pod := fmt.Sprintf("engine-%d", i)
		f.engine(pod).holds(pod, index.T1, index.Announced, chain[:1+i*7%20]).reports(pod, running(int64(i*3%4)))
	}
	all := strings.Fields(pods(f.route(Request{Chain: chain})))
	if len(all) != 40 {
		t.Fatalf("%d replicas, want 40", len(all))
	}
	for k := 1; k <= 41; k++ {
		got := strings.Fields(pods(f.route(Request{Chain: chain, TopK: k})))
		if diff := cmp.Diff(all[:min(k, 40)], got); diff != "" {
			t.Errorf("top %d (-want +got):\n%s", k, diff)
		}
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

func TestExplanations(t *testing.T) {
	ids, chain := prompt(1, 100)
	f := newFleet(t).engine("a").holds("a", index.T2, index.Announced, chain[:3]).
		holds("a", index.T2, index.Possible, chain).reports("a", running(3))
	got := f.route(Request{Tokens: ids, Explain: true})
	want := "reuses 48 of 100 tokens (3 blocks, T2), at least; Live at sequence 3; " +
		"first token in 12.7 ms: 3.0 queue, 0.2 reload, 9.5 prefill; saves 2.8 ms with probability 0.5"
	if got.Replicas[0].Explanation != want {
		t.Errorf("got %q, want %q", got.Replicas[0].Explanation, want)
	}
	if silent := f.route(Request{Tokens: ids}); silent.Explanation != "" || silent.Replicas[0].Explanation != "" {
		t.Errorf("an explanation that was not asked for: %+v", silent)
	}
	stale := f.route(Request{Tokens: ids, Explain: true, Now: start.Add(time.Hour)})
	if !strings.Contains(stale.Replicas[0].Explanation, "load unknown") {
		t.Errorf("got %q, want it to say that the load is unknown", stale.Replicas[0].Explanation)
	}
}
