/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package livedata

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// tracerName is the scope of the spans that are made here.
const tracerName = "inferencecache.io/inference-cache/pkg/apiserver/livedata"

// startRead begins the span of a read of the index, when that of its request is
// recorded. Lookups have theirs from who answers them.
func startRead(ctx context.Context, name string) trace.Span {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return nil
	}
	_, span := parent.TracerProvider().Tracer(tracerName).Start(ctx, name)
	return span
}

// endRead ends a span with what was found.
func endRead(span trace.Span, complete bool, holders int) {
	if span == nil {
		return
	}
	span.SetAttributes(
		attribute.Bool("inferencecache.complete", complete),
		attribute.Int("inferencecache.holders", holders),
	)
	span.End()
}
