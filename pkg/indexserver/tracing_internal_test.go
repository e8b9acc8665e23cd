/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"context"
	"testing"

	"google.golang.org/grpc/stats"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// called is as deep as the context of a call without tracing.
func called(ctx context.Context) context.Context {
	type key int
	for i := range 6 {
		ctx = context.WithValue(ctx, key(i), i)
	}
	return ctx
}

// TestLookupWithoutTracing holds that a lookup that nobody traces pays nothing for
// the possibility.
func TestLookupWithoutTracing(t *testing.T) {
	ctx := called(t.Context())
	if allocs := testing.AllocsPerRun(100, func() {
		if after, span := startLookup(ctx); span != nil || after != ctx {
			t.Error("a span was started")
		}
	}); allocs != 0 {
		t.Errorf("%v allocations, want none", allocs)
	}
	if options := (&Server{}).tracing(); len(options) != 0 {
		t.Errorf("%d options for gRPC, want none", len(options))
	}
}

// BenchmarkStartLookup measures what tracing adds to a lookup that is not traced.
func BenchmarkStartLookup(b *testing.B) {
	ctx := called(b.Context())
	b.ReportAllocs()
	for b.Loop() {
		startLookup(ctx)
	}
}

func TestTracedCalls(t *testing.T) {
	tests := map[string]bool{
		pb.InferenceCache_LookupRoute_FullMethodName:       true,
		pb.InferenceCache_LookupRoutes_FullMethodName:      true,
		pb.InferenceCache_GetCacheState_FullMethodName:     true,
		pb.InferenceCache_LookupRouteStream_FullMethodName: false,
		"/grpc.health.v1.Health/Check":                     false,
		"/a/method-of-the-callers-own-making":              false,
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			if got := traced(&stats.RPCTagInfo{FullMethodName: name}); got != want {
				t.Errorf("got %t, want %t", got, want)
			}
		})
	}
}
