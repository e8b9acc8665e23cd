/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// public is everything that tells others of holders and their blocks.
type public struct {
	Holders, Backend, Model []HolderView
	Prefixes                map[string]int64
	ModelPrefixes           int64
	Items                   []Item
	Complete                bool
}

func publicOf(x *Index, now time.Time) public {
	var p public
	p.Holders, p.Complete = x.Holders(now)
	p.Backend, _ = x.BackendHolders(Backend{"ns", "b"}, now)
	p.Model, p.ModelPrefixes = x.ModelHolders("", "")
	p.Prefixes = x.Prefixes()
	p.Items, _ = x.List(ListQuery{Backend: Backend{"ns", "b"}, Limit: 10})
	return p
}

func TestHiddenTenant(t *testing.T) {
	x := New(Options{WarmUp: -1, HiddenTenant: "hidden"}, start)
	seen := open(t, x, helloOf("seen", 1))
	apply(t, x, seen, 1, append(declare(fullGroup), Change{Op: Store, Hashes: []uint64{1, 2}})...)
	before, memory := publicOf(x, start), x.MemoryUse()

	hello := helloOf("unseen", 1)
	hello.Tenant = "hidden"
	unseen := open(t, x, hello)
	apply(t, x, unseen, 1, append(declare(fullGroup), Change{Op: Store, Hashes: []uint64{1, 2, 3}})...)
	lookup := func() (tokens []int32) {
		found, _ := x.Lookup(&Query{Tenant: "hidden", Model: "m", Chains: []Chain{{16, []uint64{1, 2, 3}}}, PromptTokens: 49}, nil)
		for _, m := range found {
			tokens = append(tokens, m.Tokens)
		}
		return tokens
	}
	if diff := cmp.Diff([]int32{48}, lookup()); diff != "" {
		t.Errorf("tokens of the hidden holder (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, publicOf(x, start)); diff != "" {
		t.Errorf("the hidden holder shows (-before +after):\n%s", diff)
	}
	if own, prefixes := x.ModelHolders("hidden", "m"); len(own) > 0 || prefixes > 0 {
		t.Errorf("asked for by name it shows: %d holders and %d prefixes", len(own), prefixes)
	}
	if got := reused(x, "seen", 49, 1, 2, 3); got != 32 {
		t.Errorf("the other tenant's holder reuses %d tokens, want 32", got)
	}

	// Behind a gap a holder is rebuilding, which makes an index incomplete otherwise.
	if outcome := apply(t, x, unseen, 9); outcome != Gap {
		t.Errorf("got outcome %d, want a gap", outcome)
	}
	if diff := cmp.Diff(before, publicOf(x, start)); diff != "" {
		t.Errorf("the hidden holder shows when it rebuilds (-before +after):\n%s", diff)
	}

	x.Close(unseen, start)
	if found := lookup(); len(found) > 0 {
		t.Errorf("after its stream it has %d tokens", found)
	}
	if diff := cmp.Diff(before, publicOf(x, start)); diff != "" {
		t.Errorf("the hidden holder shows after its stream (-before +after):\n%s", diff)
	}
	x.Expire(start)
	if got := x.MemoryUse(); got != memory {
		t.Errorf("%d bytes are taken, %d before", got, memory)
	}
	if _, err := x.Sequence(unseen); err == nil {
		t.Error("its stream is known still")
	}
}
