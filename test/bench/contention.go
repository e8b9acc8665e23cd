/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// contentionTarget is a ratio of 99th percentiles.
const contentionTarget = 3

// contention compares lookups of random resident prompts, each of which no cache
// has, with the same beside a writer that never rests.
func (b *bench) contention(context.Context) error {
	f, err := b.fleet()
	if err != nil {
		return err
	}
	writer, err := f.join(plainModel+"-writer", 1, fullGroup)
	if err != nil {
		return err
	}
	r := reader{asker: newAsker(f.x, plainModel), chains: f.chains, lookups: b.contentionLookups}
	alone, beside, rates := samples{}, samples{}, []float64{}
	for range b.contentionRuns {
		quiet, err := r.run()
		if err != nil {
			return err
		}
		w := startWriter(f, writer)
		busy, err := r.run()
		rate, stopErr := w.stop()
		if err == nil {
			err = stopErr
		}
		if err != nil {
			return err
		}
		alone, beside = append(alone, percentile(quiet, 99)), append(beside, percentile(busy, 99))
		rates = append(rates, rate)
	}
	b.atMost("lookup p99 beside a saturated writer ÷ alone, random resident chains",
		fmt.Sprintf("%s; %s; the writer made %.1fM block changes a second of CPU", short(beside.median()), short(alone.median()), median(rates)/1e6),
		fraction, beside.over(alone), contentionTarget)
	return nil
}

// reader looks random resident chains up.
type reader struct {
	*asker

	chains, lookups int
	random          *rand.Rand
}

// run returns the thread CPU time of each lookup. What reading the clock takes is
// not counted.
func (r *reader) run() ([]time.Duration, error) {
	if r.random == nil {
		r.random = rand.New(rand.NewPCG(1, 2))
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	clock := func() time.Duration { return cpuClock(unix.CLOCK_THREAD_CPUTIME_ID) }
	reading := make([]time.Duration, 1000)
	for i := range reading {
		start := clock()
		reading[i] = clock() - start
	}
	overhead := median(reading)
	times := make([]time.Duration, r.lookups)
	hashes := make([]uint64, 0, longChain)
	for i := range times {
		hashes = (residentChains + chain(r.random.IntN(r.chains))).append(hashes[:0], 0, longChain)
		start := clock()
		hits := r.ask(hashes)
		times[i] = max(0, clock()-start-overhead)
		if len(hits) != 1 || hits[0].Blocks != longChain {
			return nil, fmt.Errorf("a resident chain was answered with %v", hits)
		}
	}
	return times, nil
}

// writer stores and removes blocks until it is stopped.
type writer struct {
	stopping atomic.Bool
	done     chan error
	blocks   int
	took     time.Duration
}

// startWriter lets a member store and remove runs of blocks, one after the other.
func startWriter(f *fleet, member int) *writer {
	w := &writer{done: make(chan error, 1)}
	go func() {
		var err error
		w.took = threadCPU(func() {
			for n := chain(0); err == nil && !w.stopping.Load(); n++ {
				if err = f.store(member, 0, writerChains+n, 0, step); err == nil {
					err = f.remove(member, writerChains+n, 0, step)
				}
				w.blocks += 2 * step
			}
		})
		w.done <- err
	}()
	return w
}

// stop ends the writer and returns how many blocks it changed in a second of CPU.
func (w *writer) stop() (float64, error) {
	w.stopping.Store(true)
	err := <-w.done
	return float64(w.blocks) / w.took.Seconds(), err
}
