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

// stairs returns engines that hold a prompt to different lengths under different
// loads.
func stairs(b *testing.B, holders, blocks int) (*fleet, []uint32, []uint64) {
	b.Helper()
	f := newFleet(b)
	ids, chain := prompt(1, uint32(blocks*blockSize))
	for i := range holders {
		pod := fmt.Sprintf("engine-%d", i)
		f.engine(pod).holds(pod, index.T1, index.Announced, chain[:blocks*(i*37%holders+1)/holders]).reports(pod, running(int64(i%4)))
	}
	return f, ids, chain
}

// BenchmarkRoute asks for a prompt that every engine holds to another length,
// by its chain and by its tokens.
func BenchmarkRoute(b *testing.B) {
	for _, size := range []struct{ holders, blocks int }{{1, 64}, {64, 1024}, {512, 8192}} {
		f, ids, chain := stairs(b, size.holders, size.blocks)
		router := f.router()
		requests := map[string]*Request{
			"chain":  {Tenant: tenant, Model: model, Chain: chain, TopK: 4, Now: start},
			"tokens": {Tenant: tenant, Model: model, Tokens: ids, TopK: 4, Now: start},
		}
		for name, r := range requests {
			b.Run(fmt.Sprintf("%s/holders=%d/blocks=%d", name, size.holders, size.blocks), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if out := router.Route(b.Context(), r); out.Reason != PrefixMatch {
						b.Fatal(out.Reason)
					}
				}
			})
		}
	}
}

// BenchmarkRank measures what a lookup does beside asking the index: to score the
// hits and to put them in order, on what an earlier lookup has seen of the
// replicas or after a look at the load of each.
func BenchmarkRank(b *testing.B) {
	for _, size := range []struct {
		holders, topK int
		survey        bool
	}{{64, 0, false}, {64, 4, false}, {64, 4, true}, {512, 4, false}, {512, 4, true}} {
		b.Run(fmt.Sprintf("holders=%d/top=%d/survey=%v", size.holders, size.topK, size.survey), func(b *testing.B) {
			f, _, chain := stairs(b, size.holders, 1024)
			request := &Request{Tenant: tenant, Model: model, Chain: chain, TopK: size.topK, Now: start}
			router := f.router()
			l := &lookup{Router: router, scratch: new(scratch), ctx: b.Context(), request: request, rules: router.Policy(tenant)}
			if _, refused := l.resolve(); refused {
				b.Fatal("refused")
			}
			hits, _ := f.x.Lookup(&index.Query{Tenant: tenant, Model: model, Chains: l.chains}, nil)
			b.ReportAllocs()
			for b.Loop() {
				l.hits = append(l.hits[:0], hits...)
				if size.survey || !l.surveyed() {
					l.survey()
				}
				if why := l.gate(); why != "" {
					b.Fatal(why)
				}
				l.rank()
			}
			if len(l.order) == 0 {
				b.Fatal("nothing was ranked")
			}
		})
	}
}
