/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import "testing"

func TestReuse(t *testing.T) {
	window := func(i, w uint32) Group {
		return Group{Index: i, Kind: WindowGroup, Window: w, BlockSize: 16}
	}
	checkpoint := Group{Index: 1, Kind: CheckpointGroup, BlockSize: 16}
	store := func(group uint32, depth int, hashes ...uint64) Change {
		c := Change{Op: Store, GroupIndex: group, Depth: uint32(depth), Hashes: hashes}
		if depth > 0 {
			c.Parent, c.HasParent = uint64(depth), true
		}
		return c
	}
	certainty := func(c Change, v Certainty) Change {
		c.Certainty = v
		return c
	}
	tier := func(c Change, v Tier) Change {
		c.Tier = v
		return c
	}
	chain := []uint64{1, 2, 3, 4, 5}
	type want struct {
		tokens          int
		exact, inferred bool
		tier            Tier
	}
	tests := map[string]struct {
		groups  []Group
		changes []Change
		prompt  int
		want    *want
	}{
		"whole prefix":                      {[]Group{fullGroup}, []Change{store(0, 0, 1, 2, 3)}, 0, &want{48, true, false, T1}},
		"the last token is computed":        {[]Group{fullGroup}, []Change{store(0, 0, chain...)}, 80, &want{64, true, false, T1}},
		"one token more":                    {[]Group{fullGroup}, []Change{store(0, 0, chain...)}, 81, &want{80, true, false, T1}},
		"a hole ends the prefix":            {[]Group{fullGroup}, []Change{store(0, 0, 1), store(0, 2, 3, 4)}, 0, &want{16, true, false, T1}},
		"a filled hole brings back":         {[]Group{fullGroup}, []Change{store(0, 0, 1), store(0, 2, 3, 4), store(0, 1, 2)}, 0, &want{64, true, false, T1}},
		"deep blocks without roots":         {[]Group{fullGroup}, []Change{store(0, 2, 3, 4)}, 0, nil},
		"coldest tier":                      {[]Group{fullGroup}, []Change{store(0, 0, 1), tier(store(0, 1, 2), T3), tier(store(0, 2, 3), T2)}, 0, &want{48, true, false, T3}},
		"nearest tier of a block":           {[]Group{fullGroup}, []Change{tier(store(0, 0, 1, 2), T2), store(0, 0, 1, 2)}, 0, &want{32, true, false, T1}},
		"inferred lengthens":                {[]Group{fullGroup}, []Change{store(0, 0, 1), certainty(tier(store(0, 1, 2), T2), Inferred)}, 0, &want{32, false, true, T2}},
		"possible makes a bound":            {[]Group{fullGroup}, []Change{store(0, 0, 1), certainty(store(0, 1, 2), Possible)}, 0, &want{16, false, false, T1}},
		"only possible":                     {[]Group{fullGroup}, []Change{certainty(store(0, 0, 1), Possible)}, 0, &want{0, false, false, T1}},
		"window missing before the end":     {[]Group{fullGroup, window(1, 33)}, []Change{store(0, 0, 1, 2, 3), store(1, 2, 3, 4)}, 0, nil},
		"window there":                      {[]Group{fullGroup, window(1, 33)}, []Change{store(0, 0, 1, 2, 3, 4), store(1, 1, 2, 3)}, 0, &want{48, true, false, T1}},
		"window shorter at the start":       {[]Group{fullGroup, window(1, 100)}, []Change{store(0, 0, 1, 2), store(1, 0, 1, 2)}, 0, &want{32, true, false, T1}},
		"window steps back":                 {[]Group{fullGroup, window(1, 17)}, []Change{store(0, 0, chain...), store(1, 1, 2), store(1, 4, 5)}, 80, &want{32, true, false, T1}},
		"window only, behind evicted":       {[]Group{window(0, 33)}, []Change{store(0, 2, 3, 4)}, 0, &want{64, true, false, T1}},
		"group declared, nothing in it":     {[]Group{fullGroup, window(1, 33)}, []Change{store(0, 0, 1, 2)}, 0, nil},
		"checkpoint at the end only":        {[]Group{fullGroup, checkpoint}, []Change{store(0, 0, chain...), store(1, 2, 3)}, 0, &want{48, true, false, T1}},
		"group of unknown kind, lower":      {[]Group{fullGroup, {Index: 1, BlockSize: 16}}, []Change{store(0, 0, 1, 2), store(1, 0, 1)}, 0, &want{16, false, false, T1}},
		"group of unknown kind, whole":      {[]Group{fullGroup, {Index: 1, BlockSize: 16}}, []Change{store(0, 0, 1, 2), store(1, 0, 1, 2)}, 0, &want{32, true, false, T1}},
		"group of unknown kind, nothing":    {[]Group{fullGroup, {Index: 1, BlockSize: 16}}, []Change{store(0, 0, 1, 2)}, 0, &want{0, false, false, T1}},
		"window of unknown size":            {[]Group{fullGroup, window(1, 0)}, []Change{store(0, 0, 1, 2), store(1, 0, 1)}, 0, &want{16, false, false, T1}},
		"removed in one tier of two":        {[]Group{fullGroup}, []Change{store(0, 0, 1), tier(store(0, 0, 1), T2), {Op: Remove, Tier: T1, Hashes: []uint64{1}}}, 0, &want{16, true, false, T2}},
		"store after clear in one delta":    {[]Group{fullGroup}, []Change{store(0, 0, 1, 2), {Op: Clear}, store(0, 0, 1)}, 0, &want{16, true, false, T1}},
		"removal of what was never there":   {[]Group{fullGroup}, []Change{{Op: Remove, Hashes: []uint64{77}}, store(0, 0, 1)}, 0, &want{16, true, false, T1}},
		"stored twice is one block, set":    {[]Group{fullGroup}, []Change{store(0, 0, 1), store(0, 0, 1), {Op: Remove, Hashes: []uint64{1}}}, 0, nil},
		"degraded holders give bounds":      {[]Group{fullGroup}, []Change{store(0, 0, 1, 2), {Op: SetConfidence, Confidence: Confidence{Degraded: "history lost"}}}, 0, &want{32, false, false, T1}},
		"unresolved blocks may be anywhere": {[]Group{fullGroup}, []Change{{Op: SetConfidence, Confidence: Confidence{Unresolved: 3, Unbounded: 1}}}, 0, &want{0, false, false, T1}},
		"possible window block lowers only": {[]Group{fullGroup, window(1, 17)}, []Change{store(0, 0, 1, 2), store(1, 0, 1), certainty(store(1, 1, 2), Possible)}, 0, &want{16, false, false, T1}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			x := New(Options{}, start)
			s := open(t, x, helloOf("a", 1))
			apply(t, x, s, 1, append(declare(tc.groups...), tc.changes...)...)
			got, _ := x.Lookup(&Query{Tenant: "ns", Model: "m", Chains: []Chain{{16, chain}}, PromptTokens: tc.prompt}, nil)
			if tc.want == nil {
				if len(got) != 0 {
					t.Fatalf("got %+v, want nothing", got[0])
				}
				return
			}
			if len(got) != 1 {
				t.Fatalf("got %d matches, want 1", len(got))
			}
			if have := (want{int(got[0].Tokens), got[0].Exact, got[0].Inferred, got[0].Coldest()}); have != *tc.want {
				t.Errorf("got %+v, want %+v", have, *tc.want)
			}
		})
	}
}

func TestGroupsOfTwoBlockSizes(t *testing.T) {
	x := New(Options{}, start)
	s := open(t, x, helloOf("a", 1))
	groups := []Group{{Index: 0, Kind: FullGroup, BlockSize: 32}, {Index: 1, Kind: WindowGroup, Window: 17, BlockSize: 16}}
	apply(t, x, s, 1,
		Change{Op: DeclareScope, ScopeID: 0, Scope: Scope{BlockSize: 32}},
		Change{Op: DeclareScope, ScopeID: 1, Scope: Scope{BlockSize: 16}},
		Change{Op: DeclareGroup, Group: groups[0]}, Change{Op: DeclareGroup, Group: groups[1]},
		Change{Op: Store, ScopeID: 0, GroupIndex: 0, Hashes: []uint64{100, 101, 102}},
		Change{Op: Store, ScopeID: 1, GroupIndex: 1, Parent: 3, HasParent: true, Depth: 3, Hashes: []uint64{4}},
	)
	chains := []Chain{{32, []uint64{100, 101, 102}}, {16, []uint64{1, 2, 3, 4, 5, 6}}}
	got, _ := x.Lookup(&Query{Tenant: "ns", Model: "m", Chains: chains}, nil)
	if len(got) != 1 || got[0].Tokens != 64 || !got[0].Exact {
		t.Fatalf("got %+v, want 64 tokens, exact", got)
	}
	got, _ = x.Lookup(&Query{Tenant: "ns", Model: "m", Chains: chains[:1]}, nil)
	if len(got) != 1 || got[0].Tokens != 96 || got[0].Exact {
		t.Fatalf("without a chain for the second group: got %+v, want 96 tokens as a bound", got)
	}
}

func TestChainsTo(t *testing.T) {
	x := New(Options{}, start)
	s := open(t, x, helloOf("a", 1))
	apply(t, x, s, 1, append(declare(fullGroup),
		Change{Op: Store, Hashes: []uint64{1, 2, 3}},
		Change{Op: Store, Depth: 5, Parent: 55, HasParent: true, Hashes: []uint64{6}})...)
	if got, _ := x.ChainsTo("ns", "m", "", "", 3); len(got) != 1 || len(got[0].Hashes) != 3 || got[0].Hashes[0] != 1 {
		t.Errorf("chain to 3 is %v", got)
	}
	if got, _ := x.ChainsTo("ns", "m", "", "", 6); len(got) != 0 {
		t.Errorf("chain to a block without known ancestors is %v", got)
	}
}

func TestKnowledge(t *testing.T) {
	x := New(Options{}, start)
	open(t, x, helloOf("a", 1))
	tests := map[string]struct {
		tenant, model, scheme string
		want                  Knowledge
	}{
		"known":          {"ns", "m", "vllm", Known},
		"every scheme":   {"ns", "m", "", Known},
		"unknown scheme": {"ns", "m", "sglang", UnknownHashScheme},
		"unknown model":  {"ns", "n", "vllm", UnknownModel},
		"unknown tenant": {"other", "m", "vllm", UnknownTenant},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if _, got := x.Lookup(&Query{Tenant: tc.tenant, Model: tc.model, HashScheme: tc.scheme}, nil); got != tc.want {
				t.Errorf("knowledge = %d, want %d", got, tc.want)
			}
		})
	}
	if _, got := New(Options{}, start).Lookup(&Query{}, nil); got != Empty {
		t.Errorf("knowledge of an empty index = %d", got)
	}
}
