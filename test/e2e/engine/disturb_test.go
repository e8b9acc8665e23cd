//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"context"

	"golang.org/x/sync/errgroup"

	"inferencecache.io/inference-cache/test/engine/sim"
)

// disturbance is what may happen before an answer that counts.
type disturbance struct {
	name string
	// weight is how often it is drawn, in thousandths.
	weight int
	do     func(*life, context.Context) error
}

// Names of what is not drawn.
const (
	nothing      = "nothing"
	engineKilled = "engine killed"
)

// disturbances are all that are drawn; the rest of the weight is nothing.
func disturbances() []disturbance {
	return []disturbance{
		{name: "requests at once", weight: 60, do: (*life).burst},
		{name: "cache filled", weight: 40, do: (*life).fill},
		{name: "cache reset", weight: 40, do: (*life).reset},
		{name: "subscriber killed", weight: 20, do: (*life).loseSubscriber},
		{name: "server killed", weight: 8, do: (*life).loseServer},
		{name: "both killed", weight: 4, do: (*life).loseBoth},
	}
}

// disturb lets something happen and returns what.
func (l *life) disturb(ctx context.Context) (string, error) {
	const all = 1000
	drawn := l.random.IntN(all)
	for _, d := range disturbances() {
		if drawn -= d.weight; drawn < 0 {
			return d.name, d.do(l, ctx)
		}
	}
	return nothing, nil
}

// burst runs some turns at the same time. More of them than the cache can hold
// preempt each other.
func (l *life) burst(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	conversations := make([]int, 2+l.random.IntN(7))
	answers := make([]completion, len(conversations))
	for i := range conversations {
		var request sim.Request
		conversations[i], request = l.load.Next()
		group.Go(func() (err error) {
			answers[i], err = l.engine.complete(ctx, "parallel", request)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, conversation := range conversations {
		l.load.Answer(conversation, answers[i].output)
	}
	return nil
}

// fill runs a prompt that takes most of the cache from others.
func (l *life) fill(ctx context.Context) error {
	tokens := l.tokens(l.model.maxTokens - 1 - l.random.IntN(l.model.maxTokens/2))
	_, err := l.engine.complete(ctx, "completion", sim.Request{Tokens: tokens, MaxTokens: 1})
	return err
}

func (l *life) reset(ctx context.Context) error { return l.engine.reset(ctx) }

// loseSubscriber kills the subscriber, lets it miss something, and starts it.
func (l *life) loseSubscriber(ctx context.Context) error {
	if err := l.killSubscriber(); err != nil {
		return err
	}
	if err := l.unheard(ctx); err != nil {
		return err
	}
	return l.subscribe()
}

// loseServer kills the server and starts it; what happens meanwhile finds it not
// there yet.
func (l *life) loseServer(ctx context.Context) error {
	if err := l.server.Restart(); err != nil {
		return err
	}
	return l.unheard(ctx)
}

// loseBoth lets the server return before the subscriber.
func (l *life) loseBoth(ctx context.Context) error {
	if err := l.killSubscriber(); err != nil {
		return err
	}
	if err := l.loseServer(ctx); err != nil {
		return err
	}
	return l.subscribe()
}

// unheard runs turns while somebody does not listen, and sometimes resets the
// cache between them.
func (l *life) unheard(ctx context.Context) error {
	for range l.random.IntN(9) {
		if l.random.IntN(20) == 0 {
			if err := l.engine.reset(ctx); err != nil {
				return err
			}
		}
		if err := l.turn(ctx); err != nil {
			return err
		}
	}
	return nil
}

// tokens draws a text.
func (l *life) tokens(n int) []uint32 {
	out := make([]uint32, n)
	for i := range out {
		out[i] = l.random.Uint32N(vocabulary)
	}
	return out
}
