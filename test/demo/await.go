/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"
	"time"

	"inferencecache.io/inference-cache/test/engine/progress"
)

// patience is how long a subscriber may take to subscribe, and the index to know
// what an engine has sent.
const patience = 30 * time.Second

// awaitSubscriber waits until somebody has subscribed to an engine's events.
func awaitSubscriber(ctx context.Context, publisher interface{ WaitSubscribed(context.Context) error }) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return publisher.WaitSubscribed(ctx)
}

// awaitIndex waits until the index has applied everything that the engine has
// sent.
func (e *engine) awaitIndex(ctx context.Context) error {
	newest, sent := e.newest()
	if !sent {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := progress.Await(ctx, e.metricsAddr, progress.Point{Sequence: int64(newest)}); err != nil {
		return fmt.Errorf("%s: %w", e.backend, err)
	}
	return nil
}
