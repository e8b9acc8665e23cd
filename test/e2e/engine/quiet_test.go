//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"inferencecache.io/inference-cache/test/engine/progress"
	"inferencecache.io/inference-cache/test/engine/sim"
	"inferencecache.io/inference-cache/test/programs"
)

const (
	// fenceWait is how long one fence is waited for before another is put up: the
	// stream may not have been connected when it was published.
	fenceWait = 10 * time.Second
	// fences are put up before the engine counts as silent.
	fences = 6
)

// quiet returns when the index has heard of everything that the engine was asked
// to do so far, as the package's comment explains.
func (l *life) quiet(ctx context.Context) error {
	sequence, err := l.fence(ctx)
	if err != nil {
		return err
	}
	if err := programs.Poll(ctx, func() error { return l.live(ctx) }); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, programs.Patience)
	defer cancel()
	return progress.Await(ctx, l.metrics, progress.Point{Sequence: int64(sequence), Restarts: l.restarts})
}

// fence makes the engine store one block that was never seen, and returns the
// sequence of the message that says so. The prompt is one token longer than the
// block: it takes its room, and evicts what is in its place, in a single step.
func (l *life) fence(ctx context.Context) (uint64, error) {
	for range fences {
		tokens := l.tokens(blockSize + 1)
		l.stream.expect(tokens[:blockSize])
		if _, err := l.engine.complete(ctx, "fence", sim.Request{Tokens: tokens, MaxTokens: 1}); err != nil {
			return 0, err
		}
		sequence, err := l.stream.await(ctx, fenceWait)
		if err == nil || !errors.Is(err, errUnseen) {
			return sequence, err
		}
	}
	return 0, errUnseen
}

// live reports whether the server has a whole session of the running processes.
// A session begins when its subscriber starts or finds the engine started anew;
// that moment is its epoch.
func (l *life) live(ctx context.Context) error {
	replicas, err := l.server.State(ctx, tenant, l.model.name)
	if err != nil {
		return err
	}
	if len(replicas) != 1 {
		return fmt.Errorf("the server knows %d engines, want 1", len(replicas))
	}
	// A degraded session is whole as well: it says what could not be had.
	if state := replicas[0].GetState(); state != "Live" && state != "Degraded" {
		return fmt.Errorf("the engine's session is %s", state)
	}
	if began := time.Unix(0, int64(replicas[0].GetEpoch())); began.Before(l.since) {
		return fmt.Errorf("the engine's session began at %s, before %s", began, l.since)
	}
	return nil
}
