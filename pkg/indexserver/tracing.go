/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"context"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/routing"
)

// tracerName is the scope of the spans that are made here.
const tracerName = "inferencecache.io/inference-cache/pkg/indexserver"

// traced reports whether a call of this name becomes a span. Streams do not: they
// last as long as their peers, and a span is seen when it ends. Nor do calls of
// methods that do not exist, whose names are whatever the caller likes.
func traced(info *stats.RPCTagInfo) bool {
	switch info.FullMethodName {
	case pb.InferenceCache_LookupRoute_FullMethodName, pb.InferenceCache_LookupRoutes_FullMethodName, pb.InferenceCache_GetCacheState_FullMethodName:
		return true
	default:
		return false
	}
}

// tracing returns the options that make spans of calls, none without a provider:
// even one that records nothing would cost every lookup some allocations. A
// caller's trace goes on here, and its decision whether to sample holds.
func (s *Server) tracing() []grpc.ServerOption {
	if s.config.Tracing == nil {
		return nil
	}
	return []grpc.ServerOption{grpc.StatsHandler(otelgrpc.NewServerHandler(
		otelgrpc.WithTracerProvider(s.config.Tracing),
		otelgrpc.WithPropagators(propagation.TraceContext{}),
		otelgrpc.WithFilter(traced),
	))}
}

// startLookup begins the span of a lookup when its caller's is recorded.
func startLookup(ctx context.Context) (context.Context, trace.Span) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, nil
	}
	return parent.TracerProvider().Tracer(tracerName).Start(ctx, "Lookup")
}

// endLookup ends a span with what the lookup came to. Its attributes are of closed
// sets, and numbers: nothing of a prompt, and no name.
func endLookup(span trace.Span, out *routing.Response, complete bool) {
	span.SetAttributes(
		attribute.String("inferencecache.reason", string(out.Reason)),
		attribute.Bool("inferencecache.complete", complete),
		attribute.Int("inferencecache.holders", len(out.Replicas)),
	)
	span.End()
}
