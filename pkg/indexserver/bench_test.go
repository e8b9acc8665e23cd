/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/health/grpc_health_v1"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/indexserver"
	"inferencecache.io/inference-cache/pkg/indexserver/indexservertest"
)

// median returns the middle of measured durations.
func median(durations []time.Duration) time.Duration {
	slices.Sort(durations)
	return durations[len(durations)/2]
}

// BenchmarkLookupRoute measures lookups of a chain in alternation with empty
// calls on the same connection, so that what else the machine does meets both.
func BenchmarkLookupRoute(b *testing.B) {
	for _, size := range []struct{ holders, blocks int }{{1, 16}, {64, 1024}} {
		b.Run(fmt.Sprintf("holders=%d/blocks=%d", size.holders, size.blocks), func(b *testing.B) {
			s := indexservertest.Start(b)
			chain := make([]uint64, size.blocks)
			for i := range chain {
				chain[i] = uint64(i + 1)
			}
			for i := range size.holders {
				hello := indexservertest.Hello()
				hello.Holder.Rank = uint32(i)
				stream, _ := s.Open(b, hello)
				stream.Delta(1, append(indexservertest.Declare(blockSize), indexservertest.Store(chain...))...)
				stream.Acked(1)
			}
			conn := s.Dial(b)
			client, health := pb.NewInferenceCacheClient(conn), grpc_health_v1.NewHealthClient(conn)
			request := &pb.LookupRouteRequest{TenantId: "team", ModelId: "llama", PackedBlockHashes: indexservertest.Pack(chain...), TopK: 4}
			var lookups, empty []time.Duration
			timed := func(call func(context.Context) error) time.Duration {
				start := time.Now()
				if err := call(b.Context()); err != nil {
					b.Fatal(err)
				}
				return time.Since(start)
			}
			b.ReportAllocs()
			for b.Loop() {
				empty = append(empty, timed(func(ctx context.Context) error {
					_, err := health.Check(ctx, &grpc_health_v1.HealthCheckRequest{})
					return err
				}))
				lookups = append(lookups, timed(func(ctx context.Context) error {
					_, err := client.LookupRoute(ctx, request)
					return err
				}))
			}
			lookup, nothing := median(lookups), median(empty)
			b.ReportMetric(float64(lookup.Nanoseconds())/1000, "p50-lookup-µs")
			b.ReportMetric(float64(nothing.Nanoseconds())/1000, "p50-empty-µs")
			b.ReportMetric(float64(lookup)/float64(nothing), "lookup/empty")
		})
	}
}

// BenchmarkAnswer measures a lookup from its decoded request to its response,
// without the network.
func BenchmarkAnswer(b *testing.B) {
	const holders, blocks = 64, 1024
	s := indexservertest.Start(b)
	ids := tokens(1, blocks*blockSize)
	chain := chainOf(fingerprint.Parent{}, ids)
	for i := range holders {
		hello := indexservertest.Hello()
		hello.Holder.Rank = uint32(i)
		stream, _ := s.Open(b, hello)
		stream.Delta(1, append(indexservertest.Declare(blockSize), indexservertest.Store(chain[:blocks*(i*37%holders+1)/holders]...))...)
		stream.Acked(1)
	}
	ctx := indexserver.WithIdentity(b.Context(), indexserver.Identity{Name: "bench"})
	for name, request := range map[string]*pb.LookupRouteRequest{
		"packed": {PackedBlockHashes: indexservertest.Pack(chain...)},
		"chain":  {BlockHashes: wire(chain)},
		"tokens": {TokenIds: ids},
	} {
		request.TenantId, request.ModelId, request.TopK = "team", "llama", 4
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if out, err := s.Server.LookupRoute(ctx, request); err != nil || out.GetReasonCode() != "PREFIX_MATCH" {
					b.Fatal(out, err)
				}
			}
		})
	}
}

// BenchmarkReport measures stored blocks from one sidecar's stream to the index.
func BenchmarkReport(b *testing.B) {
	const blocks = 4096
	s := indexservertest.Start(b)
	stream, _ := s.Open(b, indexservertest.Hello())
	stream.Delta(1, indexservertest.Declare(blockSize)...)
	sequence, acked := uint64(1), uint64(0)
	await := func(wanted uint64) {
		for acked < wanted {
			acked = stream.Receive().GetAck().GetSequence()
		}
	}
	chain := make([]uint64, blocks)
	b.ReportAllocs()
	for b.Loop() {
		for i := range chain {
			chain[i] = sequence<<32 | uint64(i)
		}
		sequence++
		stream.Delta(sequence, indexservertest.Store(chain...))
		// One delta in flight while the next is made.
		await(sequence - 1)
	}
	await(sequence)
	b.ReportMetric(float64(sequence-1)*blocks/b.Elapsed().Seconds(), "blocks/s")
}
