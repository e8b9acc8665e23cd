/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import "slices"

// run is a chain of consecutive blocks. It is never split: another continuation
// of one of its blocks is a run of its own whose parent is that block. Blocks
// leave it at its end only, when nobody has them and nothing continues them.
type run struct {
	// parentHash is the hash of the block before the first one.
	parentHash uint64
	// parent is the run of that block, or noRun, and parentOffset its place there.
	parent uint32
	// depth is the position of the first block in its chain.
	depth uint32
	// words and intervals are spans of the arena's pools.
	words, intervals uint32
	// used is the number of intervals.
	used          uint32
	parentOffset  uint16
	length        uint16
	wordClass     uint8
	intervalClass uint8
	// anchored runs continue, block by block, a chain from its start.
	anchored bool
	// salted chains start from a salt.
	salted bool
}

const (
	noRun = ^uint32(0)
	// maxRun bounds a run so that offsets fit 16 bits and a run fits a span.
	maxRun = 1 << 15
)

// interval says that a unit has the blocks start to end−1 of a run, in the tiers
// and certainties of mask. The intervals of a run are sorted by unit and start;
// those of one unit do not overlap, and neighbours differ.
type interval struct {
	unit       uint32
	mask       uint32
	start, end uint16
}

// kids is the unit of the intervals that count the runs which continue a block:
// mask is their number. It keeps the block, and sorts behind every real unit.
const kids = ^uint32(0)

// arena has the memory of every directory of an index.
type arena struct {
	runs      pool[run]
	words     pool[uint64]
	intervals pool[interval]
	// pieces is the working memory of one change.
	pieces []interval
}

func (a *arena) run(number uint32) *run { return &a.runs.at(number, 1)[0] }

// hashes returns the hashes of a run's blocks.
func (a *arena) hashes(r *run) []uint64 { return a.words.at(r.words, int(r.length)) }

// list returns the intervals of a run.
func (a *arena) list(r *run) []interval {
	if r.used == 0 {
		return nil
	}
	return a.intervals.at(r.intervals, int(r.used))
}

// newRun makes an empty run with room for some blocks.
func (a *arena) newRun(blocks int) uint32 {
	number := a.runs.take(0)
	class := classFor(min(blocks, maxRun))
	*a.run(number) = run{parent: noRun, wordClass: class, words: a.words.take(class)}
	return number
}

// freeRun gives back the memory of a run.
func (a *arena) freeRun(number uint32) {
	r := a.run(number)
	a.words.give(r.words, r.wordClass)
	if r.used > 0 {
		a.intervals.give(r.intervals, r.intervalClass)
	}
	a.runs.give(number, 0)
}

// push appends a hash; more says how many are to follow.
func (a *arena) push(r *run, hash uint64, more int) {
	n := int(r.length)
	if n == classSize(r.wordClass) {
		r.words, r.wordClass = a.words.resize(r.words, r.wordClass, n, min(n+1+more, maxRun))
	}
	a.words.at(r.words, n+1)[n] = hash
	r.length++
}

// splice replaces the intervals from low to high by others.
func (a *arena) splice(r *run, low, high int, with []interval) {
	old := int(r.used)
	grown := old - (high - low) + len(with)
	switch {
	case grown == 0:
		if old > 0 {
			a.intervals.give(r.intervals, r.intervalClass)
		}
		r.used = 0
		return
	case old == 0:
		r.intervalClass = classFor(grown)
		r.intervals = a.intervals.take(r.intervalClass)
	default:
		r.intervals, r.intervalClass = a.intervals.resize(r.intervals, r.intervalClass, old, grown)
	}
	all := a.intervals.at(r.intervals, max(old, grown))
	copy(all[low+len(with):grown], all[high:old])
	copy(all[low:], with)
	r.used = uint32(grown)
}

// of returns where the intervals of a unit lie among those of a run.
func of(list []interval, unit uint32) (low, high int) {
	low, _ = slices.BinarySearchFunc(list, unit, func(iv interval, u uint32) int {
		if iv.unit < u {
			return -1
		}
		return 1
	})
	high = low
	for high < len(list) && list[high].unit == unit {
		high++
	}
	return low, high
}

// mask returns what a unit has of one block.
func (a *arena) mask(r *run, unit uint32, offset uint16) uint16 {
	list := a.list(r)
	low, high := of(list, unit)
	for _, iv := range list[low:high] {
		if iv.start <= offset && offset < iv.end {
			return uint16(iv.mask)
		}
	}
	return 0
}

// end is the number of blocks that somebody has or that something continues.
func (a *arena) end(r *run) uint16 {
	end := uint16(0)
	for _, iv := range a.list(r) {
		end = max(end, iv.end)
	}
	return end
}
