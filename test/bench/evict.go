/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"inferencecache.io/inference-cache/pkg/index"
)

// stopTarget is in milliseconds.
const stopTarget = 1

// budgetBytes for each entry make a budget that the resident population reaches.
const budgetBytes = 24

// evictedShare of the population is replaced while the budget is reached.
const evictedShare = 8

// evictions measures stores into an index at its budget of memory, each of which
// has to make room first. What is asked for must be found meanwhile, and the
// budget must hold.
func (b *bench) evictions(context.Context) error {
	budget := int64(b.entries) * budgetBytes
	f := newFleet(index.Options{Memory: budget})
	if _, err := f.join(plainModel, b.holders, fullGroup); err != nil {
		return err
	}
	var free, full spent
	chains := b.entries / longChain
	if err := f.fill(0, chains*3/4, b.holders, &free); err != nil {
		return err
	}
	// Up to here nothing had to go. Fill what is left of the budget.
	next := chains * 3 / 4
	for f.x.MemoryUse() < budget-budget/evictedShare/8 && next < 2*chains {
		if err := f.fill(next, growing, b.holders, &spent{}); err != nil {
			return err
		}
		next += growing
	}
	before := f.x.Prefixes()[tenant]
	replaced := max(growing, chains/evictedShare)
	if err := f.fill(next, replaced, b.holders, &full); err != nil {
		return err
	}
	if err := f.checkBudget(budget, before, next, replaced); err != nil {
		return err
	}
	b.atMost(fmt.Sprintf("longest stop of a store at the budget, %s resident", millions(int(before))),
		fmt.Sprintf("%d stores of %d blocks; %s a block; before the budget was reached %s, and at most %s", full.calls, step, short(full.each()), short(free.each()), short(free.longest)),
		milliseconds, full.longest.Seconds()*1e3, stopTarget)
	return nil
}

// spent is the thread CPU time of stores.
type spent struct {
	total, longest time.Duration
	calls          int
}

// each is the time of one block.
func (s spent) each() time.Duration { return s.total / time.Duration(max(1, s.calls*step)) }

// fill grows some more resident chains, each on one of the members, and times
// every store.
func (f *fleet) fill(first, chains, members int, s *spent) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for at := first; at < first+chains; at += growing {
		for from := 0; from < longChain; from += step {
			for n := at; n < min(at+growing, first+chains); n++ {
				start := cpuClock(unix.CLOCK_THREAD_CPUTIME_ID)
				err := f.store(n%members, 0, residentChains+chain(n), from, step)
				if err != nil {
					return err
				}
				took := cpuClock(unix.CLOCK_THREAD_CPUTIME_ID) - start
				s.total, s.longest, s.calls = s.total+took, max(s.longest, took), s.calls+1
			}
		}
	}
	return nil
}

// checkBudget fails if the budget is exceeded, if nothing was evicted, or if the
// newest chains were.
func (f *fleet) checkBudget(budget, before int64, first, chains int) error {
	if use := f.x.MemoryUse(); use > budget+budget/64 {
		return fmt.Errorf("%d bytes in use at a budget of %d", use, budget)
	}
	if after := f.x.Prefixes()[tenant]; after >= before+int64(chains*longChain) {
		return fmt.Errorf("nothing was evicted: %d blocks, then %d", before, after)
	}
	a := newAsker(f.x, plainModel)
	for n := first + chains/2; n < first+chains; n++ {
		// Holders that lost something may have more than is known and are listed, too.
		hits := a.ask((residentChains + chain(n)).hashes(longChain))
		if _, score := best(hits); score != nearWeight*longChain {
			return fmt.Errorf("a chain that was stored last is not whole: score %d", score)
		}
	}
	return nil
}
