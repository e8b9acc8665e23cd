/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"fmt"
	"testing"

	"inferencecache.io/inference-cache/pkg/index"
)

// BenchmarkRoute asks for a prompt that every engine holds to another length,
// by its chain and by its tokens.
func BenchmarkRoute(b *testing.B) {
	for _, size := range []struct{ holders, blocks int }{{64, 1024}, {512, 8192}} {
		f := newFleet(b)
		ids, chain := prompt(1, uint32(size.blocks*blockSize))
		for i := range size.holders {
			pod := fmt.Sprintf("engine-%d", i)
			held := size.blocks * (i + 1) / size.holders
			f.engine(pod).holds(pod, index.T1, index.Announced, chain[:held]).reports(pod, load(int64(i%4)))
		}
		requests := map[string]*Request{
			"chain":  {Tenant: tenant, Model: model, Chain: chain, TopK: 4},
			"tokens": {Tenant: tenant, Model: model, Tokens: ids, TopK: 4},
		}
		for name, r := range requests {
			b.Run(fmt.Sprintf("%s/holders=%d/blocks=%d", name, size.holders, size.blocks), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if out := Route(b.Context(), f.x, r); out.Reason != PrefixMatch {
						b.Fatal(out.Reason)
					}
				}
			})
		}
	}
}

// BenchmarkRank ranks replicas that differ in nothing but their names.
func BenchmarkRank(b *testing.B) {
	matches := make([]index.Match, 512)
	for i := range matches {
		matches[i] = index.Match{Holder: index.Holder{Namespace: "team", Pod: fmt.Sprintf("engine-%d", i)}, Tokens: 64, Exact: true}
	}
	r, in := &Request{}, resolved{head: 1, hasHead: true}
	b.ReportAllocs()
	for b.Loop() {
		rank(r, in, matches)
	}
}
