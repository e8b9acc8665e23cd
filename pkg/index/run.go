/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import "sync/atomic"

// run is a chain of consecutive blocks. It is never split: another continuation
// of one of its blocks is a run of its own whose parent is that block. Blocks
// leave it at its end only, when nobody has them and nothing continues them.
//
// It fills a cache line. Its version is odd while it changes; a reader that finds
// the same even version before and after it looked has seen one state.
type run struct {
	version atomic.Uint32
	// directory is the number of the one that the run belongs to.
	directory uint32
	// spans, sizes and link are a layout, in words that are read and written whole.
	spans, sizes, link atomic.Uint64
	// use says when and how often lookups and stores passed here: see order.
	use atomic.Uint64
	// above is a run from which this one descends, for one that has a parent, and the
	// hash of the block before the first one for any other.
	above uint64
	// newer, older and listed are the run's place in the order of use.
	newer, older  uint32
	listed        uint32
	wordClass     uint8
	intervalClass uint8
	// rank is the list of the order in which the run is.
	rank uint8
}

// layout is where a run lies, in its chain and in memory.
type layout struct {
	// words and intervals are spans of the arena's pools.
	words, intervals uint32
	// used is the number of intervals, up to 2^24−1.
	used uint32
	// depth is the position of the first block in its chain, up to 2^24−1.
	depth  uint32
	length uint16
	// parent is the run of the block before the first one, or noRun, and
	// parentOffset its place there.
	parent       uint32
	parentOffset uint16
	// anchored runs continue, block by block, a chain from its start.
	anchored bool
	// salted chains start from a salt.
	salted bool
}

const (
	noRun = ^uint32(0)
	// maxRun bounds a run so that offsets fit 15 bits.
	maxRun = 1 << 15
)

const (
	anchoredFlag = 1 << iota
	saltedFlag
)

// load reads a layout. Only the writer may take it for one state as it is.
func (r *run) load() layout {
	spans, sizes, link := r.spans.Load(), r.sizes.Load(), r.link.Load()
	return layout{
		words: uint32(spans >> 32), intervals: uint32(spans),
		depth: uint32(sizes >> 40), used: uint32(sizes>>16) & (1<<24 - 1), length: uint16(sizes),
		parent: uint32(link >> 32), parentOffset: uint16(link >> 16),
		anchored: link&anchoredFlag != 0, salted: link&saltedFlag != 0,
	}
}

// store writes a layout as one change.
func (r *run) store(l layout) {
	r.begin()
	defer r.end()
	r.set(l)
}

func (r *run) set(l layout) {
	link := uint64(l.parent)<<32 | uint64(l.parentOffset)<<16
	if l.anchored {
		link |= anchoredFlag
	}
	if l.salted {
		link |= saltedFlag
	}
	r.spans.Store(uint64(l.words)<<32 | uint64(l.intervals))
	r.sizes.Store(uint64(l.depth)<<40 | uint64(l.used)<<16 | uint64(l.length))
	r.link.Store(link)
}

// begin and end enclose what readers must not see half done.
func (r *run) begin() { r.version.Store(r.version.Load() + 1) }

func (r *run) end() { r.version.Store(r.version.Load() + 1) }

func (r *run) length() uint16 { return uint16(r.sizes.Load()) }

// arena has the memory of every directory of an index.
type arena struct {
	runs  pool[run]
	words pool[uint64]
	// intervals are the words of type interval.
	intervals pool[uint64]
	// slots counts those of all tables.
	slots int
	// beat goes on with every change: the clock of the order of use.
	beat atomic.Uint32
	// pieces and masks are the working memory of one change.
	pieces []uint64
	masks  []uint16
}

// bytes is the memory of everything that is in use.
func (a *arena) bytes() int64 {
	const runBytes, wordBytes = 64, 8
	return int64(a.runs.live)*runBytes + int64(a.words.live+a.intervals.live+a.slots)*wordBytes
}

func (a *arena) run(number uint32) *run { return &a.runs.at(number, 1)[0] }

// hashes returns the hashes of a run's blocks, for the writer.
func (a *arena) hashes(l layout) []uint64 { return a.words.at(l.words, int(l.length)) }

// list returns the intervals of a run. Readers take them atomically, and look whether
// they still are the run's.
func (a *arena) list(l layout) []uint64 {
	if l.used == 0 {
		return nil
	}
	return a.intervals.at(l.intervals, int(l.used))
}

// newRun makes an empty run with room for some blocks.
func (a *arena) newRun(blocks int) uint32 {
	number := a.runs.take(0)
	r := a.run(number)
	r.wordClass = classFor(max(1, min(blocks, maxRun)))
	r.store(layout{parent: noRun, words: a.words.take(r.wordClass)})
	return number
}

// freeRun gives back the memory of a run.
func (a *arena) freeRun(number uint32) {
	r := a.run(number)
	l := r.load()
	r.store(layout{parent: noRun})
	a.words.give(l.words, r.wordClass)
	if l.used > 0 {
		a.intervals.give(l.intervals, r.intervalClass)
	}
	a.runs.give(number, 0)
}

// room makes sure that a run can take more blocks, up to maxRun.
func (a *arena) room(r *run, more int) {
	l := r.load()
	want := min(int(l.length)+more, maxRun)
	if classSize(r.wordClass) >= want {
		return
	}
	class := classFor(want)
	moved := a.words.take(class)
	storeWords(a.words.at(moved, int(l.length)), a.hashes(l), false)
	old, oldClass := l.words, r.wordClass
	l.words, r.wordClass = moved, class
	r.store(l)
	a.words.give(old, oldClass)
}

// push appends a hash to a run that has room for it. Nobody sees it before the
// table or an interval leads there.
func (a *arena) push(r *run, hash uint64) {
	l := r.load()
	atomic.StoreUint64(&a.words.at(l.words, int(l.length)+1)[l.length], hash)
	r.sizes.Store(r.sizes.Load() + 1)
}

// splice replaces the intervals from low to high by others.
func (a *arena) splice(r *run, low, high int, with []uint64) {
	l := r.load()
	old := int(l.used)
	grown := old - (high - low) + len(with)
	r.begin()
	defer r.end()
	l.used = uint32(grown)
	switch {
	case grown == 0:
		if old > 0 {
			a.intervals.give(l.intervals, r.intervalClass)
		}
	case old == 0 || grown > classSize(r.intervalClass):
		a.respan(r, &l, old, low, high, with)
	default:
		all := a.intervals.at(l.intervals, max(old, grown))
		if grown != old {
			storeWords(all[low+len(with):grown], all[high:old], grown > old)
		}
		storeWords(all[low:], with, false)
	}
	r.set(l)
}

// respan gives a run a span for its intervals that has room for them.
func (a *arena) respan(r *run, l *layout, old, low, high int, with []uint64) {
	var from []uint64
	if old > 0 {
		from = a.intervals.at(l.intervals, old)
	}
	class := classFor(int(l.used))
	span := a.intervals.take(class)
	to := a.intervals.at(span, int(l.used))
	storeWords(to, from[:low], false)
	storeWords(to[low:], with, false)
	storeWords(to[low+len(with):], from[high:], false)
	if old > 0 {
		a.intervals.give(l.intervals, r.intervalClass)
	}
	l.intervals, r.intervalClass = span, class
}
