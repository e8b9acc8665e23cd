/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"time"
)

// pacer lets steps follow each other no faster than people can read.
type pacer struct {
	ticker *time.Ticker
}

// newPacer returns a pacer; without a pace it never waits.
func newPacer(pace time.Duration) pacer {
	if pace <= 0 {
		return pacer{}
	}
	return pacer{ticker: time.NewTicker(pace)}
}

// wait waits for the next step, or returns the error of ctx.
func (p pacer) wait(ctx context.Context) error {
	if p.ticker == nil {
		return ctx.Err()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-p.ticker.C:
		return nil
	}
}

func (p pacer) stop() {
	if p.ticker != nil {
		p.ticker.Stop()
	}
}
