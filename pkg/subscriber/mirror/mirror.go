/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import "inferencecache.io/inference-cache/pkg/kvevents"

// Mirror is the state of one engine rank. Make one with [New].
type Mirror struct {
	opts Options
	registry

	// blocks are what the engine hashes and the contents have. A block with a hash
	// is found in hashes, one where a content is found in contents. Known counts the
	// hashes.
	blocks           slab
	hashes, contents table
	known            int
	// lanes are the groups and tiers in use, laneNumbers their numbers plus one.
	lanes       []lane
	laneNumbers [maxGroup + 1][T3 + 1]uint8
	// copies counts the copies in T1 by group, for the audit.
	copies [maxGroup + 1]int64
	// ghosts are the hashes without copies.
	ghosts ghosts

	// What follows is empty for most blocks, or altogether. Parked are the hashes
	// without a position, unplaced the same in the order of arrival.
	parked   map[uint32]*parked
	unplaced parkedList
	// special are the contents that a block alone does not describe.
	special map[uint32]*node
	// many are the copies that a bit does not describe.
	many map[laneKey]copies
	// families counts the children of blocks beyond those that their records count,
	// parents are the contents before blocks whose parent has no block.
	families map[uint32]uint32
	parents  map[uint32]uint64
	// waiting are the parked hashes, late the partials, that wait for a parent to be
	// placed, by its engine hash.
	waiting map[uint64]*parked
	late    map[uint64][]*partial
	// spans are the stores that cover several blocks by one hash.
	spans map[spanKey]*span

	// salts are those named last, oldest first.
	salts []string

	// placements and pins are work that was found while doing other work.
	placements []placement
	pins       []*partial
	placing    bool

	dirty   []laneRef
	cleared bool
	// readings are those of the events of a segment.
	readings []reading
	// learned are the blocks of the chained stores of a segment, in order; none for
	// a hash for which there is no room.
	learned []uint32
	// owns are the content hashes of the blocks of a store, each block alone.
	owns []uint64
	// seen is what was read in order to have it at hand.
	seen uint64

	confidence, told Confidence
	stats            Stats
	removals         RemovalRule
	capacity         int64
	// namesTiers: the engine has named a tier other than its own memory.
	namesTiers bool
	// unchained: the engine's hashes do not identify prefixes; nothing it says
	// can be used.
	unchained bool
}

// New returns the mirror of an engine that holds nothing.
func New(opts Options) *Mirror {
	m := &Mirror{opts: opts.complete(), registry: newRegistry()}
	m.removals = m.opts.Removals
	m.forgetAll()
	return m
}

// forgetAll drops what is known about blocks.
func (m *Mirror) forgetAll() {
	m.blocks, m.known = slab{}, 0
	m.hashes, m.contents = newTable(m.opts.Seed), newTable(^m.opts.Seed)
	clear(m.copies[:])
	m.ghosts, m.unplaced = ghosts{}, parkedList{}
	m.parked = map[uint32]*parked{}
	m.special = map[uint32]*node{}
	m.many = map[laneKey]copies{}
	m.families, m.parents = map[uint32]uint32{}, map[uint32]uint64{}
	m.waiting = map[uint64]*parked{}
	m.late = map[uint64][]*partial{}
	m.spans = map[spanKey]*span{}
	m.placements, m.pins, m.dirty = nil, nil, nil
	m.confidence.Conflicts, m.confidence.Unresolved = 0, 0
}

// Apply takes one batch of events and returns what changed: Absorb and Flush.
func (m *Mirror) Apply(batch *kvevents.Batch) []Change {
	m.Absorb(batch)
	return m.Flush()
}

// Absorb takes one batch of events. Nothing of the batch is referred to
// afterwards.
func (m *Mirror) Absorb(batch *kvevents.Batch) {
	if batch.Malformed > 0 {
		m.stats.Malformed += int64(batch.Malformed)
		m.confidence.Degraded = "the engine sent events that could not be read"
	}
	for events := batch.Events; len(events) > 0; {
		n := 0
		for n < len(events) && events[n].Kind != kvevents.AllBlocksCleared {
			n++
		}
		m.applySegment(events[:n])
		if n < len(events) {
			m.clear()
			n++
		}
		events = events[n:]
	}
	m.trim()
	m.audit()
}

// Pending is how many residencies may have changed since the last Flush.
func (m *Mirror) Pending() int { return len(m.dirty) }

// applySegment takes events between two clears. Which content a hash stands for
// is learned from all of them first: a window group announces its blocks before
// the full group of the same step says where they lie.
func (m *Mirror) applySegment(events []kvevents.Event) {
	m.learned, m.readings = m.learned[:0], m.readings[:0]
	for i := range events {
		var r reading
		switch ev := &events[i]; {
		case ev.Kind == kvevents.BlockRemoved:
			m.fetchRemoved(ev.Hashes)
		case ev.Kind == kvevents.BlockStored && !m.rejectsUnchained(ev):
			if r = m.read(ev); r.class == classChained {
				m.learn(ev)
			}
		}
		m.readings = append(m.readings, r)
	}
	if m.unchained {
		return
	}
	learned := m.learned
	for i := range events {
		switch ev := &events[i]; ev.Kind {
		case kvevents.BlockStored:
			m.stats.StoredEvents++
			learned = m.store(ev, m.readings[i], learned)
		case kvevents.BlockRemoved:
			m.stats.RemovedEvents++
			m.remove(ev)
		}
	}
	if cap(m.learned) > keptScratch {
		m.learned, m.owns = nil, nil
	}
}

// unchainedItems is the number of items up to which a positional BlockStored of
// SGLang comes from a release before 0.5.9.
const unchainedItems = 6

// rejectsUnchained detects SGLang before 0.5.9 by the shape of its events. Those
// releases name a block by its own tokens alone and start every tree node
// without a parent, so nothing can be said about prefixes.
func (m *Mirror) rejectsUnchained(ev *kvevents.Event) bool {
	if !m.unchained && m.opts.Engine == SGLang && ev.Items > 0 && ev.Items <= unchainedItems {
		m.unchained = true
		m.clear()
		m.confidence.Degraded = "SGLang before 0.5.9 does not chain its block hashes; nothing is reported"
	}
	return m.unchained
}

// clear takes everything away, as the engine did.
func (m *Mirror) clear() {
	m.stats.Clears++
	m.forgetAll()
	m.cleared = true
	if !m.unchained {
		// Whatever had been missed is gone, too.
		m.confidence.Degraded = ""
	}
}

// Degrade notes why the state is less than what the engine holds, until the
// engine clears its cache. It is told with the next changes.
func (m *Mirror) Degrade(reason string) { m.confidence.Degraded = reason }

// trim keeps the memory of blocks that are not resident, or not understood,
// within its bounds.
func (m *Mirror) trim() {
	m.trimGhosts()
	for len(m.parked) > m.opts.Limits.Unplaced {
		m.stats.Dropped++
		m.drop(m.unplaced.head.block)
	}
}
