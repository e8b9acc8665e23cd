/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver_test

import (
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace/noop"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/indexserver"
	"inferencecache.io/inference-cache/pkg/indexserver/indexservertest"
)

// BenchmarkTracing measures what a provider of tracers costs a lookup although it
// records nothing: lookups at a server with one, in alternation with lookups at a
// server without.
func BenchmarkTracing(b *testing.B) {
	client := func(options ...indexservertest.Option) pb.InferenceCacheClient {
		s := indexservertest.Start(b, options...)
		stream, _ := s.Open(b, indexservertest.Hello())
		stream.Delta(1, append(indexservertest.Declare(blockSize), indexservertest.Store(1, 2, 3, 4))...)
		stream.Acked(1)
		return s.Client(b)
	}
	without := client()
	with := client(func(c *indexserver.Config) { c.Tracing = noop.NewTracerProvider() })
	request := &pb.LookupRouteRequest{TenantId: "team", ModelId: "llama", PackedBlockHashes: indexservertest.Pack(1, 2, 3, 4)}
	timed := func(c pb.InferenceCacheClient) time.Duration {
		start := time.Now()
		if _, err := c.LookupRoute(b.Context(), request); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	var plain, traced []time.Duration
	b.ReportAllocs()
	for b.Loop() {
		plain, traced = append(plain, timed(without)), append(traced, timed(with))
	}
	b.ReportMetric(float64(median(plain).Nanoseconds())/1000, "p50-without-µs")
	b.ReportMetric(float64(median(traced).Nanoseconds())/1000, "p50-with-µs")
	b.ReportMetric(float64(median(traced))/float64(median(plain)), "with/without")
}
