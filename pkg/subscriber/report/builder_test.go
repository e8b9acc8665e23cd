/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package report

import (
	"time"

	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	"inferencecache.io/inference-cache/pkg/kvevents"
)

const blockSize = 4

// batchOf returns a batch that stores a chain of its own, with so many blocks.
func batchOf(seed uint64, blocks int) *kvevents.Batch {
	ev := kvevents.Event{Kind: kvevents.BlockStored, BlockSize: blockSize, Medium: "GPU"}
	for i := range uint64(blocks) {
		ev.Hashes = append(ev.Hashes, kvevents.IntHash(seed<<32|i))
		for j := range uint64(blockSize) {
			ev.Tokens = append(ev.Tokens, uint32(seed*1_000_003+i*blockSize+j))
		}
	}
	return &kvevents.Batch{Timestamp: float64(seed), Events: []kvevents.Event{ev}}
}

// start is the time at which the clocks of tests stand.
func start() time.Time { return time.Unix(1_000_000, 0) }

// delayedClock is a fake clock whose delayed functions run when it is stepped,
// each in the step that reaches its time.
type delayedClock struct {
	*clocktesting.FakeClock
	pending []*delayed
}

type delayed struct {
	clock.Timer
	at      time.Time
	fn      func()
	stopped bool
}

func (d *delayed) Stop() bool {
	was := !d.stopped
	d.stopped = true
	return was
}

func newDelayedClock() *delayedClock {
	return &delayedClock{FakeClock: clocktesting.NewFakeClock(start())}
}

// AfterFunc implements clock.WithDelayedExecution.
func (c *delayedClock) AfterFunc(d time.Duration, fn func()) clock.Timer {
	f := &delayed{at: c.Now().Add(d), fn: fn}
	c.pending = append(c.pending, f)
	return f
}

// advance steps the clock and runs what is due.
func (c *delayedClock) advance(d time.Duration) {
	c.Step(d)
	for _, f := range c.pending {
		if !f.stopped && !f.at.After(c.Now()) {
			f.stopped = true
			f.fn()
		}
	}
}
