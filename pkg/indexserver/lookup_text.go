/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"inferencecache.io/inference-cache/pkg/routing"
)

// boundedTokenizer keeps prompts as text from costing more than a server has.
type boundedTokenizer struct {
	inner   routing.Tokenizer
	timeout time.Duration
	// slots has a place for each prompt in flight.
	slots   chan struct{}
	metrics *metrics
}

func newBoundedTokenizer(inner routing.Tokenizer, limits *Limits, m *metrics) *boundedTokenizer {
	return &boundedTokenizer{inner: inner, timeout: limits.TokenizeTimeout, slots: make(chan struct{}, limits.Tokenizations), metrics: m}
}

// Tokenize implements routing.Tokenizer. A prompt that finds no place is refused
// at once: waiting would make every other one late as well.
func (b *boundedTokenizer) Tokenize(ctx context.Context, model, prompt string) ([]uint32, error) {
	select {
	case b.slots <- struct{}{}:
		defer func() { <-b.slots }()
	default:
		b.metrics.tokenized.WithLabelValues(tokenizeBusy).Inc()
		return nil, fmt.Errorf("%d prompts are being tokenised already", cap(b.slots))
	}
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, b.timeout)
		defer cancel()
	}
	ids, err := b.inner.Tokenize(ctx, model, prompt)
	switch {
	case err == nil:
		b.metrics.tokenized.WithLabelValues(tokenizeDone).Inc()
		return ids, nil
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded):
		b.metrics.tokenized.WithLabelValues(tokenizeTimeout).Inc()
		return nil, context.DeadlineExceeded
	}
	b.metrics.tokenized.WithLabelValues(tokenizeFailed).Inc()
	return nil, err
}
