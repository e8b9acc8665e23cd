/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// chainOf is a chain of blocks that no other number has.
func chainOf(number, blocks int) []uint64 {
	chain := make([]uint64, blocks)
	for i := range chain {
		chain[i] = uint64(number)<<32 | uint64(i+1)
	}
	return chain
}

// storeChains lets one holder store chains of ten blocks, one delta each.
func storeChains(t *testing.T, x *Index, s Stream, first uint64, numbers ...int) {
	t.Helper()
	for i, number := range numbers {
		apply(t, x, s, first+uint64(i), Change{Op: Store, Hashes: chainOf(number, 10)})
	}
}

func TestQuotaForgetsInOrder(t *testing.T) {
	tests := map[string]struct {
		order Eviction
		// used are looked up before the quota is exceeded, in this order.
		used []int
		gone []int
	}{
		"LRU, nothing used":          {LRU, nil, []int{0, 1}},
		"LRU, the first was used":    {LRU, []int{0}, []int{1, 2}},
		"LRU, used and used again":   {LRU, []int{0, 1, 0}, []int{2, 3}},
		"LFU, the last used once":    {LFU, []int{3}, []int{0, 1}},
		"LFU, often beats recently":  {LFU, []int{0, 0, 0, 0, 1, 1, 1, 1, 3}, []int{2, 4}},
		"LFU, all used but unevenly": {LFU, []int{0, 0, 0, 0, 1, 2, 3, 3, 3, 3}, []int{1, 4}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			x := New(Options{}, start)
			x.SetTenantLimits("ns", &TenantLimits{MaxBlocks: 40, Order: tc.order})
			s := open(t, x, helloOf("a", 1))
			apply(t, x, s, 1, declare(fullGroup)...)
			storeChains(t, x, s, 2, 0, 1, 2, 3)
			sequence := uint64(6)
			for _, number := range tc.used {
				reused(x, "a", 0, chainOf(number, 10)...)
				apply(t, x, s, sequence)
				sequence++
			}
			storeChains(t, x, s, sequence, 4, 5)
			for number := range 6 {
				want := 160
				for _, gone := range tc.gone {
					if number == gone {
						want = 0
					}
				}
				if got := reused(x, "a", 0, chainOf(number, 10)...); got != want {
					t.Errorf("chain %d: %d tokens, want %d", number, got, want)
				}
			}
			if got := x.Prefixes()["ns"]; got != 40 {
				t.Errorf("%d blocks are kept, want 40", got)
			}
			views, _ := x.Holders(start)
			if v := views[0]; v.State != Degraded || v.Exact() || v.Forgotten != 20 || v.Prefixes != 40 {
				t.Errorf("the holder is %s, exact %t, with %d blocks and %d forgotten; want Degraded, false, 40, 20", v.State, v.Exact(), v.Prefixes, v.Forgotten)
			}
			if got := x.Evicted(OverLimit, tc.order); got != 20 {
				t.Errorf("%d blocks count as forgotten for the quota, want 20", got)
			}
			if got := x.Evicted(Unused, tc.order) + x.Evicted(OverLimit, LRU+LFU-tc.order); got != 0 {
				t.Errorf("%d blocks count as forgotten for something else", got)
			}
			x.Close(s, start)
			cleanUp(t, x)
		})
	}
}

// TestForgottenIsNeverSilent fills an index beyond its quota: every answer of the
// holder is a bound until it has told anew what it has.
func TestForgottenIsNeverSilent(t *testing.T) {
	x := New(Options{}, start)
	x.SetTenantLimits("ns", &TenantLimits{MaxBlocks: 10})
	s := open(t, x, helloOf("a", 1))
	apply(t, x, s, 1, append(declare(fullGroup), Change{Op: Store, Hashes: chainOf(1, 10)})...)
	if !onlySession(x).Exact() {
		t.Error("a holder within the quota is not exact")
	}
	apply(t, x, s, 2, Change{Op: Store, Hashes: chainOf(2, 10)})
	for number := range 3 {
		hits, _ := x.Lookup(&Query{Tenant: "ns", Model: "m", Chains: []Chain{{16, chainOf(number, 10)}}}, nil)
		if len(hits) != 1 || hits[0].Exact {
			t.Errorf("chain %d: %+v, want a hit that is not exact", number, hits)
		}
	}
	if got := onlySession(x).State(); got != Degraded {
		t.Errorf("state = %s, want Degraded", got)
	}
	apply(t, x, s, 3, Change{Op: Clear}, Change{Op: Store, Hashes: chainOf(3, 10)})
	if s := onlySession(x); !s.Exact() || s.State() != Live {
		t.Errorf("after a clear: exact %t, %s", s.Exact(), s.State())
	}
}

func TestLimitsAreLifted(t *testing.T) {
	x := New(Options{}, start)
	s := open(t, x, helloOf("a", 1))
	apply(t, x, s, 1, append(declare(fullGroup), Change{Op: Store, Hashes: chainOf(1, 100)})...)
	x.SetTenantLimits("ns", &TenantLimits{MaxBlocks: 30})
	x.Expire(start)
	if got := reused(x, "a", 0, chainOf(1, 100)...); got != 30*16 {
		t.Errorf("%d tokens under a quota that was set later, want %d", got, 30*16)
	}
	x.SetTenantLimits("ns", nil)
	apply(t, x, s, 2, Change{Op: Store, Hashes: chainOf(1, 100)})
	if got := reused(x, "a", 0, chainOf(1, 100)...); got != 1600 {
		t.Errorf("%d tokens without a quota, want 1600", got)
	}
	x.SetTenantLimits("ns", &TenantLimits{})
	x.Expire(start)
	if got := x.Prefixes()["ns"]; got != 0 {
		t.Errorf("a quota of 0 keeps %d blocks", got)
	}
}

// TestHotIsKept cuts a quota at once after everything was in use: what was used
// last stays.
func TestHotIsKept(t *testing.T) {
	x := New(Options{}, start)
	s := open(t, x, helloOf("a", 1))
	apply(t, x, s, 1, declare(fullGroup)...)
	storeChains(t, x, s, 2, 0, 1, 2, 3, 4, 5, 6, 7)
	sequence := uint64(10)
	for _, number := range []int{5, 1, 7, 0, 2, 6, 4, 3} {
		reused(x, "a", 0, chainOf(number, 10)...)
		apply(t, x, s, sequence)
		sequence++
	}
	x.SetTenantLimits("ns", &TenantLimits{MaxBlocks: 20})
	x.Expire(start)
	for number := range 8 {
		want := 0
		if number == 3 || number == 4 {
			want = 160
		}
		if got := reused(x, "a", 0, chainOf(number, 10)...); got != want {
			t.Errorf("chain %d: %d tokens, want %d", number, got, want)
		}
	}
}

func TestTTL(t *testing.T) {
	x := New(Options{WarmUp: -1}, start)
	x.SetTenantLimits("ns", &TenantLimits{MaxBlocks: -1, TTL: time.Hour})
	s := open(t, x, helloOf("a", 1))
	apply(t, x, s, 1, append(declare(fullGroup), Change{Op: Store, Hashes: chainOf(1, 4)}, Change{Op: Store, Hashes: chainOf(2, 4)})...)
	for minute := range 70 {
		x.Expire(start.Add(time.Duration(minute) * time.Minute))
		reused(x, "a", 0, chainOf(1, 4)...)
	}
	if got := reused(x, "a", 0, chainOf(1, 4)...); got != 64 {
		t.Errorf("a chain in use: %d tokens, want 64", got)
	}
	if got := reused(x, "a", 0, chainOf(2, 4)...); got != 0 {
		t.Errorf("a chain unused for its TTL: %d tokens, want 0", got)
	}
	for minute := range 70 {
		x.Expire(start.Add(time.Duration(70+minute) * time.Minute))
	}
	if got := x.Prefixes()["ns"]; got != 0 {
		t.Errorf("%d blocks are left after their TTL", got)
	}
	if unused, over := x.Evicted(Unused, LRU), x.Evicted(OverLimit, LRU); unused != 8 || over != 0 {
		t.Errorf("%d blocks count as unused and %d as too many, want 8 and none", unused, over)
	}
}

// TestAnnouncedIsInUse has a chain that grows and one that is announced again:
// both are in use, also where nobody asks for them.
func TestAnnouncedIsInUse(t *testing.T) {
	x := New(Options{WarmUp: -1}, start)
	x.SetTenantLimits("ns", &TenantLimits{MaxBlocks: -1, TTL: 16 * time.Minute})
	s := open(t, x, helloOf("a", 1))
	grown, again := chainOf(1, 60), chainOf(2, 10)
	apply(t, x, s, 1, declare(fullGroup)...)
	for minute := range 60 {
		more := Change{Op: Store, Depth: uint32(minute), HasParent: minute > 0, Hashes: grown[minute : minute+1]}
		if minute > 0 {
			more.Parent = grown[minute-1]
		}
		apply(t, x, s, uint64(minute+2), more, Change{Op: Store, Hashes: again})
		x.Expire(start.Add(time.Duration(minute) * time.Minute))
		if got := x.Prefixes()["ns"]; got != int64(minute+11) {
			t.Fatalf("after %d minutes: %d blocks, want %d", minute, got, minute+11)
		}
	}
}

// TestMemory lets tenants of different sizes fill an index: it stays within its
// memory, and the largest tenant pays.
func TestMemory(t *testing.T) {
	// A change may go over the budget by what it brings and what a table grows by.
	const budget, slack = 4 << 20, 64 << 10
	x := New(Options{Memory: budget}, start)
	rng := rand.New(rand.NewPCG(1, 2))
	streams := map[string]Stream{}
	sequences := map[string]uint64{}
	for _, tenant := range []string{"small", "large"} {
		h := helloOf(tenant, 1)
		h.Tenant = tenant
		streams[tenant] = open(t, x, h)
		apply(t, x, streams[tenant], 1, declare(fullGroup)...)
		sequences[tenant] = 2
	}
	store := func(tenant string, hashes []uint64) {
		apply(t, x, streams[tenant], sequences[tenant], Change{Op: Store, Hashes: hashes})
		sequences[tenant]++
	}
	store("small", chainOf(1, 1000))
	for range 4000 {
		chain := make([]uint64, 1+rng.IntN(200))
		for i := range chain {
			chain[i] = rng.Uint64()
		}
		store("large", chain)
		if got := x.MemoryUse(); got > budget+slack {
			t.Fatalf("%d bytes in use, %d allowed", got, budget)
		}
	}
	if got := x.Prefixes(); got["small"] != 1000 || got["large"] < 50_000 {
		t.Errorf("blocks by tenant: %v", got)
	}
	for tenant, stream := range streams {
		apply(t, x, stream, sequences[tenant], Change{Op: Clear})
		x.Close(stream, start)
	}
	cleanUp(t, x)
}

// TestForgetsContinuationsFirst has a chain whose branches leave before it.
func TestForgetsContinuationsFirst(t *testing.T) {
	x := New(Options{}, start)
	s := open(t, x, helloOf("a", 1))
	root := chainOf(1, 10)
	changes := append(declare(fullGroup), Change{Op: Store, Hashes: root})
	for branch := range 9 {
		changes = append(changes, Change{Op: Store, Depth: 10, HasParent: true, Parent: root[9], Hashes: chainOf(2+branch, 10)})
	}
	apply(t, x, s, 1, changes...)
	for _, quota := range []int64{95, 60, 15, 4} {
		x.SetTenantLimits("ns", &TenantLimits{MaxBlocks: quota})
		x.Expire(start)
		if got := x.Prefixes()["ns"]; got != quota {
			t.Errorf("%d blocks under a quota of %d", got, quota)
		}
		if got, want := reused(x, "a", 0, root...), int(min(quota, 10))*16; got != want {
			t.Errorf("quota %d: the chain before the branches reuses %d tokens, want %d", quota, got, want)
		}
	}
}

func BenchmarkForget(b *testing.B) {
	for _, order := range []Eviction{LRU, LFU} {
		b.Run(fmt.Sprintf("order %d", order), func(b *testing.B) {
			x := New(Options{}, start)
			x.SetTenantLimits("ns", &TenantLimits{MaxBlocks: 1 << 20, Order: order})
			s, _, err := x.Open(helloOf("a", 1), start)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := x.Delta(s, 1, declare(fullGroup), start, start); err != nil {
				b.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			hashes := make([]uint64, 64)
			sequence := uint64(1)
			store := func() {
				for i := range hashes {
					hashes[i] = rng.Uint64()
				}
				sequence++
				if _, err := x.Delta(s, sequence, []Change{{Op: Store, Hashes: hashes}}, start, start); err != nil {
					b.Fatal(err)
				}
			}
			for x.Prefixes()["ns"] < 1<<20 {
				for range 1 << 10 {
					store()
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				store()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(hashes)), "ns/block")
		})
	}
}
