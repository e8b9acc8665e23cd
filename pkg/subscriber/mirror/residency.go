/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import (
	"math"

	"inferencecache.io/inference-cache/pkg/kvevents"
)

// store takes the residency out of a BlockStored. Learned begins with the entries
// of the next chained store; what follows them is returned.
func (m *Mirror) store(ev *kvevents.Event, r reading, learned []*entry) []*entry {
	if r.tier > T1 {
		m.noticeTiers()
	}
	switch r.class {
	case classChained:
		for _, e := range learned[:len(ev.Hashes)] {
			if e != nil {
				m.addCopy(e, r.group, r.tier)
			}
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
// removal does not say the block size; the hash is resident at one of them.
func (m *Mirror) removeOne(hash uint64, group uint32, tier Tier, left int64) {
	for e := m.entries[hash]; e != nil; e = e.next {
		if m.removeSpan(e, group, tier) {
			return
		}
		r := e.residency(group, tier)
		if r == nil {
			continue
		}
		switch {
		case left >= 0:
			m.setCopies(e, group, tier, int32(min(left, math.MaxInt32)))
		case m.removals == LastCopy:
			m.setCopies(e, group, tier, 0)
		default:
			m.setCopies(e, group, tier, r.copies-1)
		}
		return
	}
	m.stats.UnknownRemovals++
}

// addCopy counts one more copy of a block.
func (m *Mirror) addCopy(e *entry, group uint32, tier Tier) {
	resident := e.resident()
	r := e.addResidency(group, tier)
	if r.copies == math.MaxInt32 {
		return
	}
	r.copies++
	if tier == T1 {
		m.copies[group]++
	}
	switch {
	case e.node == nil && !resident:
		m.confidence.Unresolved++
	case e.node != nil:
		e.leave()
		if r.copies == 1 || m.opts.Engine == SGLang {
			m.raise(e.node, group, tier, e.hash, 1)
		}
	}
}

// setCopies changes the number of copies of a block that has some.
func (m *Mirror) setCopies(e *entry, group uint32, tier Tier, copies int32) {
	r := e.residency(group, tier)
	gone := r.copies - copies
	if tier == T1 {
		m.copies[group] -= int64(gone)
	}
	r.copies = copies
	r.shrunk = r.shrunk || gone > 0
	if copies == 0 {
		e.dropResidency(group, tier)
	}
	if e.node == nil {
		if !e.resident() {
			m.confidence.Unresolved--
			m.abandon(e)
		}
		return
	}
	switch {
	case m.opts.Engine == SGLang && gone > 0:
		m.lower(e.node, group, tier, e.hash, gone)
	case m.opts.Engine == SGLang && gone < 0:
		m.raise(e.node, group, tier, e.hash, -gone)
	case m.opts.Engine != SGLang && copies == 0:
		m.lower(e.node, group, tier, e.hash, 1)
	}
	if copies == 0 && tier == T1 {
		m.infer(e.node, group)
	}
	if !e.resident() {
		m.ghosts.push(e)
	}
}

// infer reports a block that left T1 as probably in T2, where asked for.
func (m *Mirror) infer(n *node, group uint32) {
	if !m.opts.KeepRemoved || m.namesTiers {
		return
	}
	if s := n.find(group, T1); s != nil && s.instances > 0 {
		return
	}
	s := n.slot(group, T2)
	s.inferred = true
	m.touch(n, s)
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
	for _, n := range m.nodes {
		for i := range n.slots {
			if s := &n.slots[i]; s.inferred {
				s.inferred = false
				m.touch(n, s)
			}
		}
	}
}
