/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// stair builds an index in which holder i of n holds the first i/n of one chain.
func stair(b *testing.B, holders, blocks int) (*Index, []uint64) {
	b.Helper()
	x := New(Options{}, start)
	rng := rand.New(rand.NewPCG(1, 2))
	chain := make([]uint64, blocks)
	for i := range chain {
		chain[i] = rng.Uint64()
	}
	for i := range holders {
		s, _, err := x.Open(helloOf(fmt.Sprintf("pod-%04d", i), 1), start)
		if err != nil {
			b.Fatal(err)
		}
		held := chain[:max(1, blocks*(i+1)/holders)]
		if _, err := x.Delta(s, 1, append(declare(fullGroup), Change{Op: Store, Hashes: held}), start, start); err != nil {
			b.Fatal(err)
		}
	}
	return x, chain
}

func BenchmarkLookup(b *testing.B) {
	for _, size := range []struct{ holders, blocks int }{{64, 64}, {64, 1024}, {64, 8192}, {512, 8192}} {
		b.Run(fmt.Sprintf("%dx%d", size.holders, size.blocks), func(b *testing.B) {
			x, chain := stair(b, size.holders, size.blocks)
			q := Query{Tenant: "ns", Model: "m", Chains: []Chain{{16, chain}}}
			var dst []Hit
			b.ReportAllocs()
			for b.Loop() {
				dst, _ = x.Lookup(&q, dst[:0])
			}
			if len(dst) != size.holders {
				b.Fatalf("%d matches", len(dst))
			}
		})
	}
}

// BenchmarkLookupOfTwoGroups has a window group whose blocks lie at the end of
// what each holder has.
func BenchmarkLookupOfTwoGroups(b *testing.B) {
	const holders, blocks, window = 64, 1024, 64
	x := New(Options{}, start)
	chain := make([]uint64, blocks)
	for i := range chain {
		chain[i] = uint64(i+1) * 0x9e3779b97f4a7c15
	}
	groups := []Group{fullGroup, {Index: 1, Kind: WindowGroup, Window: window*16 + 1, BlockSize: 16}}
	for i := range holders {
		s, _, err := x.Open(helloOf(fmt.Sprintf("pod-%04d", i), 1), start)
		if err != nil {
			b.Fatal(err)
		}
		end := blocks * (i + 1) / holders
		first := max(0, end-window)
		last := Change{Op: Store, GroupIndex: 1, Depth: uint32(first), HasParent: first > 0, Hashes: chain[first:end]}
		if first > 0 {
			last.Parent = chain[first-1]
		}
		changes := append(declare(groups...), Change{Op: Store, Hashes: chain[:end]}, last)
		if _, err := x.Delta(s, 1, changes, start, start); err != nil {
			b.Fatal(err)
		}
	}
	q := Query{Tenant: "ns", Model: "m", Chains: []Chain{{16, chain}}}
	var dst []Hit
	b.ReportAllocs()
	for b.Loop() {
		dst, _ = x.Lookup(&q, dst[:0])
	}
	if len(dst) != holders || dst[5].Tokens == 0 {
		b.Fatalf("%d hits", len(dst))
	}
}

func BenchmarkStoreRemove(b *testing.B) {
	x := New(Options{}, start)
	s, _, err := x.Open(helloOf("a", 1), start)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := x.Delta(s, 1, declare(fullGroup), start, start); err != nil {
		b.Fatal(err)
	}
	const run = 16
	rng := rand.New(rand.NewPCG(1, 2))
	hashes := make([]uint64, run)
	sequence := uint64(1)
	b.ReportAllocs()
	for b.Loop() {
		for i := range hashes {
			hashes[i] = rng.Uint64()
		}
		sequence++
		changes := []Change{{Op: Store, Hashes: hashes}, {Op: Remove, Hashes: hashes}}
		if _, err := x.Delta(s, sequence, changes, start, start); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/run/2, "ns/block")
}
