/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkLookup measures lookups over a real connection, client and index
// together, of an index that answers at once: over a stream that lookups share,
// and by calls.
func BenchmarkLookup(b *testing.B) {
	for _, way := range []string{"stream", "call"} {
		for _, blocks := range []int{16, 1024} {
			b.Run(fmt.Sprintf("%s/blocks=%d", way, blocks), func(b *testing.B) {
				client := benchmarkClient(b, way == "stream")
				query := Query{Tenant: "team", Model: "llama", Chain: make([]uint64, blocks), TopK: 1}
				b.ReportAllocs()
				for b.Loop() {
					mustAnswer(b, client, query)
				}
			})
			b.Run(fmt.Sprintf("%s/blocks=%d/parallel", way, blocks), func(b *testing.B) {
				client := benchmarkClient(b, way == "stream")
				query := Query{Tenant: "team", Model: "llama", Chain: make([]uint64, blocks), TopK: 1}
				b.ReportAllocs()
				b.SetParallelism(16)
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						mustAnswer(b, client, query)
					}
				})
			})
		}
	}
}

// BenchmarkLookupBatch measures 64 lookups in one call.
func BenchmarkLookupBatch(b *testing.B) {
	client := benchmarkClient(b, true)
	queries := numbered(64, 64)
	b.ReportAllocs()
	for b.Loop() {
		for _, answer := range client.LookupBatch(b.Context(), queries) {
			if answer.Err != nil {
				b.Fatal(answer.Err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(queries)), "ns/lookup")
}

// BenchmarkRequest measures what becomes of a query before it is sent: 16,384
// tokens that are hashed here or sent as they are.
func BenchmarkRequest(b *testing.B) {
	for name, size := range map[string]int{"hashed": 16, "ids": 0} {
		b.Run(name, func(b *testing.B) {
			query := Query{Tenant: "team", Model: "llama", TokenIDs: upTo(16384), BlockSize: size}
			b.SetBytes(int64(4 * len(query.TokenIDs)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := query.request(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// benchmarkClient returns a client of one index, with a stream or without.
func benchmarkClient(b *testing.B, stream bool) *Client {
	b.Helper()
	index := startIndex(b, newAuthority(b), "a")
	index.streams.Store(stream)
	options := testOptions(b, index.ca)
	options.Servers, options.HealthInterval = []string{index.address}, time.Second
	client := startClient(b, options)
	awaitStanding(b, client, index, serving)
	if stream {
		awaitLane(b, client, index)
	} else {
		await(b, "the stream to be refused", func() bool { l := peerOf(client, index).lane.Load(); return l != nil && l.over() })
	}
	return client
}

func mustAnswer(b *testing.B, client *Client, query Query) {
	if answer := client.Lookup(b.Context(), query); answer.Err != nil {
		b.Error(answer.Err)
	}
}
