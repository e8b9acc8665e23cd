/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	"inferencecache.io/inference-cache/pkg/index"
)

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
	for name, gone := range map[string]func(*fleet){
		"lost":       func(f *fleet) { f.loses("engine-2") },
		"overloaded": func(f *fleet) { f.reports("engine-0", running(1)).reports("engine-2", waiting(50)) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t)
			for i := range engines {
				f.engine(fmt.Sprintf("engine-%d", i))
			}
			before := place(f)
			// One engine is busier than the others; within bounds that moves nothing.
			f.reports("engine-1", waiting(5)).reports("engine-0", running(1))
			if diff := cmp.Diff(before, place(f)); diff != "" {
				t.Errorf("a little load moved prompts (-before +after):\n%s", diff)
			}
			for i := range engines {
				f.reports(fmt.Sprintf("engine-%d", i), running(0))
			}
			gone(f)
			after := place(f)
			moved := 0
			for i := range before {
				switch {
				case before[i] == "engine-2":
					moved++
				case before[i] != after[i]:
					t.Errorf("prompt %d moved from %s to %s", i, before[i], after[i])
				}
				if after[i] == "engine-2" {
					t.Errorf("prompt %d stays on engine-2", i)
				}
			}
			if moved < prompts/engines/2 || moved > prompts/engines*2 {
				t.Errorf("%d of %d prompts were on one of %d engines", moved, prompts, engines)
			}
		})
	}
}

func TestAffinityWithoutALivingStream(t *testing.T) {
	ids, _ := prompt(1, 80)
	f := newFleet(t).engine("a").engine("b").loses("a").loses("b")
	if got := f.route(Request{Tokens: ids}); got.Reason != AffinityHint || len(got.Replicas) != 1 {
		t.Errorf("got %s for %q, want one of the lost replicas", got.Reason, pods(got))
	}
}

// TestEveryFormHasTheSameHead asks in two forms about prompts that nobody holds.
func TestEveryFormHasTheSameHead(t *testing.T) {
	for _, size := range []uint32{16, 64} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			f := newFleet(t)
			for i := range 8 {
				pod := fmt.Sprintf("engine-%d", i)
				f.open(pod, scheme)
				f.apply(pod,
					index.Change{Op: index.DeclareScope, Scope: index.Scope{BlockSize: size}},
					index.Change{Op: index.DeclareGroup, Group: index.Group{Kind: index.FullGroup, BlockSize: size}})
			}
			other, _ := prompt(1<<20, 128)
			f.holds("engine-0", index.T1, index.Announced, fingerprint.Chain(nil, fingerprint.Parent{}, other, int(size)))
			for i := range uint32(50) {
				ids, _ := prompt(1000*i, 800)
				chain := fingerprint.Chain(nil, fingerprint.Parent{}, ids, int(size))
				byTokens, byChain := f.route(Request{Tokens: ids}), f.route(Request{Chain: chain})
				if diff := cmp.Diff(pods(byTokens), pods(byChain)); diff != "" || byTokens.Reason != AffinityHint {
					t.Errorf("prompt %d (-tokens +chain):\n%s", i, diff)
				}
			}
		})
	}
}

func TestPossibleHoldersFollowTheHint(t *testing.T) {
	ids, chain := prompt(1, 80)
	f := newFleet(t).engine("a").engine("b").engine("c").engine("d")
	for _, pod := range []string{"a", "b", "c"} {
		f.holds(pod, index.T1, index.Possible, chain)
	}
	f.reports("a", running(3)).reports("b", running(2)).reports("c", running(1)).reports("d", waiting(100))
	got := f.route(Request{Tokens: ids})
	if got.Reason != AffinityHint || len(got.Replicas) != 3 {
		t.Fatalf("got %s for %q, want a hint and every possible holder", got.Reason, pods(got))
	}
	for _, r := range got.Replicas {
		if r.Exact || r.Tokens != 0 || r.Score != 0 {
			t.Errorf("a possible holder is credited: %+v", r)
		}
	}
	if got := f.route(Request{Tokens: ids, TopK: 2}); len(got.Replicas) != 2 {
		t.Errorf("got %q, want two", pods(got))
	}
}
