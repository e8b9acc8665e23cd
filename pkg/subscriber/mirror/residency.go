/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"inferencecache.io/inference-cache/pkg/kvevents"
)

// store takes the residency out of a BlockStored. Learned begins with the blocks
// of the next chained store; what follows them is returned.
func (m *Mirror) store(ev *kvevents.Event, r reading, learned []uint32) []uint32 {
	if r.tier > T1 {
		m.noticeTiers()
	}
	switch r.class {
	case classChained:
		l := m.lane(r.group, r.tier)
		for i, at := range learned[:len(ev.Hashes)] {
			if at == none {
				continue
			}
			hash := ev.Hashes[i].Uint64()
			if b := m.at(at); !b.named() || b.hash() != hash {
				// A later event of the segment has given the hash another block.
				at = m.lookup(hash, uint32(ev.BlockSize))
			}
			m.addCopy(at, l)
		}
		return learned[len(ev.Hashes):]
	case classPartial:
		m.storePartial(ev, r)
	case classUntokened:
		for i := range ev.Hashes {
			m.storeSpan(ev.Hashes[i].Uint64(), uint32(ev.BlockSize), r)
		}
	case classForeign:
		m.stats.Foreign++
	case classUnknownMedium:
		m.stats.UnknownMedium++
	case classMalformed:
		m.stats.Malformed++
		m.confidence.Degraded = "the engine sent events that contradict themselves"
	}
	return learned
}

// remove takes copies away.
func (m *Mirror) remove(ev *kvevents.Event) {
	if m.opts.Engine == VLLM && ev.Medium == lmcacheMedium {
		m.stats.Foreign++
		return
	}
	tier, ok := tierOf(ev.Medium)
	if !ok {
		m.stats.UnknownMedium++
		return
	}
	if tier > T1 {
		m.noticeTiers()
	}
	group, ok := groupIndex(ev)
	if !ok {
		m.stats.Malformed++
		return
	}
	if tier > T1 {
		group = m.creditedGroup(ev, group)
	}
	if g := m.groups[group]; g != nil && g.ignored {
		return
	}
	for i := range ev.Hashes {
		left := int64(-1)
		if i < len(ev.RemainingCopies) {
			left = max(0, ev.RemainingCopies[i])
		}
		m.removeOne(ev.Hashes[i].Uint64(), group, tier, left)
	}
}

// removeOne takes one copy of a hash, or all but left if that is not negative. A
// removal does not say the block size. A hash can have several, when groups of one
// model cut their blocks differently: the hash of a large block equals that of the
// small block at its end. It is resident at one of them.
func (m *Mirror) removeOne(hash uint64, group uint32, tier Tier, left int64) {
	l := m.lane(group, tier)
	f := m.hashes.find(hash)
	for i := f.next(); i != none; i = f.next() {
		b := m.at(i)
		if b.hash() != hash {
			continue
		}
		if m.removeSpan(i, l) {
			return
		}
		was := m.copiesOf(i, b, l)
		if was.count == 0 {
			continue
		}
		switch {
		case left >= 0:
			m.setCopies(i, l, was, int32(min(left, math.MaxInt32)))
		case m.removals == LastCopy:
			m.setCopies(i, l, was, 0)
		default:
			m.setCopies(i, l, was, was.count-1)
		}
		return
	}
	m.stats.UnknownRemovals++
}

// infer reports a block that left T1 as probably in T2, where asked for.
func (m *Mirror) infer(i uint32, from uint8) {
	if !m.opts.KeepRemoved || m.namesTiers {
		return
	}
	n := m.nodeOf(i)
	if s := n.find(from); s != nil && s.instances > 0 {
		return
	}
	s := n.slot(m.lane(m.lanes[from].group, T2))
	s.inferred = true
	m.touchSlot(n, s)
}

// noticeTiers ends inference: this engine says itself what lies in its tiers.
func (m *Mirror) noticeTiers() {
	if m.namesTiers {
		return
	}
	m.namesTiers = true
	if !m.opts.KeepRemoved {
		return
	}
	for _, n := range m.specialNodes() {
		for i := range n.slots {
			if s := &n.slots[i]; s.inferred {
				s.inferred = false
				m.touchSlot(n, s)
			}
		}
	}
}

// specialNodes returns the nodes of all special contents in a fixed order.
func (m *Mirror) specialNodes() []*node {
	return slices.SortedFunc(maps.Values(m.special), func(a, b *node) int { return cmp.Compare(a.block, b.block) })
}
