/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// cpuClock reads a clock of CPU time. These clocks count the time that a thread or
// a process ran, so that what else the machine does changes a figure little.
func cpuClock(id int32) time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(id, &now); err != nil {
		// The clocks that are asked for exist on every supported system.
		panic(fmt.Sprintf("read CPU clock %d: %v", id, err))
	}
	return time.Duration(now.Nano())
}

// threadCPU measures f on a thread of its own. It is for code that leaves no
// garbage for others to clear up.
func threadCPU(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := cpuClock(unix.CLOCK_THREAD_CPUTIME_ID)
	f()
	return cpuClock(unix.CLOCK_THREAD_CPUTIME_ID) - start
}

// processCPU measures f and everything that the process does meanwhile, garbage
// collection above all.
func processCPU(f func()) time.Duration {
	start := cpuClock(unix.CLOCK_PROCESS_CPUTIME_ID)
	f()
	return cpuClock(unix.CLOCK_PROCESS_CPUTIME_ID) - start
}

// stopwatch is threadCPU or processCPU.
type stopwatch func(func()) time.Duration

// subject is something whose calls are timed.
type subject struct {
	watch stopwatch
	// call does it once; n counts the calls.
	call func(n int)
}

// samples are the times of one call of a subject, one for each run.
type samples []time.Duration

// compare times subjects in alternation, so that whatever else the machine does
// meets all of them, and returns the samples of each.
func (b *bench) compare(subjects ...subject) []samples {
	out := make([]samples, len(subjects))
	batches := make([]func() time.Duration, len(subjects))
	for i, s := range subjects {
		batches[i] = s.batch(b.shortest)
	}
	for range b.runs {
		for i, batch := range batches {
			out[i] = append(out[i], batch())
		}
	}
	return out
}

// batch returns what times one call of the subject, as the mean of so many calls
// that they take the given time at least: reading the clock is no part of it then.
func (s subject) batch(shortest time.Duration) func() time.Duration {
	calls, n := 1, 0
	repeat := func() {
		for range calls {
			s.call(n)
			n++
		}
	}
	for s.watch(repeat) < shortest {
		calls *= 2
	}
	return func() time.Duration { return s.watch(repeat) / time.Duration(calls) }
}

// median returns the middle sample.
func (s samples) median() time.Duration { return median(slices.Clone(s)) }

// over returns the median ratio of samples that were taken in the same run.
func (s samples) over(o samples) float64 {
	ratios := make([]float64, len(s))
	for i := range s {
		ratios[i] = float64(s[i]) / float64(o[i])
	}
	return median(ratios)
}

// median returns the middle of the values, which it orders.
func median[T time.Duration | float64](values []T) T {
	slices.Sort(values)
	return values[len(values)/2]
}

// percentile returns the value that p of 100 values do not exceed.
func percentile(values []time.Duration, p int) time.Duration {
	slices.Sort(values)
	return values[min(len(values)-1, len(values)*p/100)]
}
