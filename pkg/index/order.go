/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import "math/bits"

// Eviction is the order in which blocks are forgotten when there are too many.
type Eviction uint8

// The orders.
const (
	// LRU forgets what was used longest ago.
	LRU Eviction = iota
	// LFU forgets what was used least often, and of that what was used longest ago.
	LFU
)

// order has the runs of a tenant in the order in which they are forgotten: lists
// by rank, each from the run that was entered last to the one that was entered
// first. Lookups only note in a run that they passed; a run that was used since
// it was entered is entered again when its turn comes. So every step is O(1), and
// reading changes no list.
type order struct {
	eviction Eviction
	lists    [orderRanks]runList
}

// orderRanks are the lists: LRU needs one, LFU has one per power of two of uses.
const orderRanks = 16

type runList struct {
	newest, oldest uint32
}

func newOrder() order {
	var o order
	for i := range o.lists {
		o.lists[i] = runList{newest: noRun, oldest: noRun}
	}
	return o
}

// A run's use is the number of beats in which it was used and the last of them,
// 32 bits each. The beat of an arena goes on with every change.
func useOf(count, beat uint32) uint64 { return uint64(count)<<32 | uint64(beat) }

// touch notes that a run is in use. Any number of readers may do so at once; some
// of their uses may be lost.
func (a *arena) touch(r *run) {
	beat, use := a.beat.Load(), r.use.Load()
	if uint32(use) != beat {
		r.use.Store(useOf(uint32(min(use>>32+1, 1<<31)), beat))
	}
}

// enter puts a new run into the order.
func (o *order) enter(a *arena, number uint32) {
	r := a.run(number)
	r.use.Store(useOf(1, a.beat.Load()))
	o.push(a, number)
}

// push puts a run at the newest end of the list that it deserves.
func (o *order) push(a *arena, number uint32) {
	r := a.run(number)
	use := r.use.Load()
	r.listed, r.rank = uint32(use), 0
	if o.eviction == LFU {
		r.rank = uint8(min(bits.Len32(uint32(use>>32)>>1), orderRanks-1))
	}
	l := &o.lists[r.rank]
	r.newer, r.older = noRun, l.newest
	if l.newest != noRun {
		a.run(l.newest).newer = number
	} else {
		l.oldest = number
	}
	l.newest = number
}

// leave takes a run out of the order.
func (o *order) leave(a *arena, number uint32) {
	r := a.run(number)
	l := &o.lists[r.rank]
	if r.newer != noRun {
		a.run(r.newer).older = r.older
	} else {
		l.newest = r.older
	}
	if r.older != noRun {
		a.run(r.older).newer = r.newer
	} else {
		l.oldest = r.newer
	}
}

// renew enters a run again.
func (o *order) renew(a *arena, number uint32) {
	o.leave(a, number)
	o.push(a, number)
}

// oldest returns the run whose turn it is, or noRun when there is none. What came
// with the change for which room is made goes last.
func (o *order) oldest(a *arena) uint32 {
	fallback := noRun
	for i := range o.lists {
		number := o.lists[i].oldest
		if number == noRun {
			continue
		}
		if a.run(number).listed != a.beat.Load() {
			return number
		}
		if fallback == noRun {
			fallback = number
		}
	}
	return fallback
}

// victimTries bounds the runs that one search enters again, sample those among
// which it takes the one that was used longest ago: runs that were entered again
// are not in the order of their use.
const (
	victimTries = 32
	sample      = 16
)

// victim returns a run whose last blocks nothing continues, and how many of them
// may go. The run is noRun when none was found in a bounded time; the next search
// goes on from there.
func (o *order) victim(a *arena) (number uint32, blocks int) {
	for range victimTries {
		number := o.oldest(a)
		if number == noRun {
			return noRun, 0
		}
		r := a.run(number)
		if r.listed == uint32(r.use.Load()) && a.loose(r) > 0 {
			number = a.leastRecent(number)
			return number, a.loose(a.run(number))
		}
		// It was used, or what continues it has its turn first.
		o.renew(a, number)
	}
	return noRun, 0
}

// leastRecent returns the run that was used longest ago, of one whose blocks may
// go and some that were entered after it.
func (a *arena) leastRecent(number uint32) uint32 {
	best, age := number, uint32(0)
	beat := a.beat.Load()
	for range sample {
		r := a.run(number)
		if unused := beat - uint32(r.use.Load()); unused > age && a.loose(r) > 0 {
			best, age = number, unused
		}
		if number = r.newer; number == noRun {
			break
		}
	}
	return best
}

// loose is the number of blocks at the end of a run that nothing continues.
func (a *arena) loose(r *run) int {
	l := r.load()
	list := a.list(l)
	if n := len(list); n > 0 && unitOf(list[n-1]) == kids {
		return int(l.length) - int(endOf(list[n-1]))
	}
	return int(l.length)
}
