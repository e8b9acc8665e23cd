/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import (
	"math"

	"inferencecache.io/inference-cache/pkg/kvevents"
)

// class is how a BlockStored is to be taken.
type class uint8

const (
	// classChained lists every block that its tokens fill.
	classChained class = iota + 1
	// classPartial lists only some of them, as window groups do.
	classPartial
	// classUntokened has no tokens: hashes that were announced before.
	classUntokened
	// classIgnored says nothing about prefixes.
	classIgnored
	// classForeign is about another program's blocks.
	classForeign
	// classUnknownMedium names a tier that is not known.
	classUnknownMedium
	// classMalformed contradicts itself.
	classMalformed
)

// reading is an event's class with what it was decided by.
type reading struct {
	class class
	group uint32
	tier  Tier
}

// read decides how a BlockStored is to be taken and learns about its group.
func (m *Mirror) read(ev *kvevents.Event) reading {
	r := reading{}
	var ok bool
	if m.opts.Engine == VLLM && ev.Medium == lmcacheMedium {
		r.class = classForeign
		return r
	}
	if r.tier, ok = tierOf(ev.Medium); !ok {
		r.class = classUnknownMedium
		return r
	}
	if r.group, ok = groupIndex(ev); !ok || ev.BlockSize <= 0 || ev.BlockSize > maxBlockSize {
		r.class = classMalformed
		return r
	}
	if len(ev.Hashes) > 0 && (len(ev.Tokens) == 0 || m.inLargerBlocks(ev, r)) {
		r.class, r.group = classUntokened, m.creditedGroup(ev, r.group)
		return r
	}
	g := m.observe(r.group, ev)
	blocks := len(ev.Tokens) / ev.BlockSize
	switch {
	case g == nil:
		r.class = classMalformed
	case g.ignored:
		r.class = classIgnored
	case len(ev.Tokens)%ev.BlockSize != 0 || len(ev.Hashes) > blocks:
		r.class = classMalformed
	case len(ev.Hashes) == blocks:
		r.class = classChained
	case g.Kind != GroupFull:
		r.class = classPartial
	case ev.HasGroup && ev.SpecKind == "":
		// Some releases number their groups without saying of which kind they are.
		// This one is not full; held to the rule of one it promises too little.
		r.class = classPartial
		m.confidence.Degraded = "the engine does not say what kind its KV-cache groups are of"
	default:
		r.class = classMalformed
	}
	return r
}

// inLargerBlocks reports whether a store outside of the engine's own memory names
// blocks that are a multiple of the group's. Their tokens say nothing new.
func (m *Mirror) inLargerBlocks(ev *kvevents.Event, r reading) bool {
	g := m.groups[r.group]
	return r.tier > T1 && g != nil && uint32(ev.BlockSize) > g.BlockSize && uint32(ev.BlockSize)%g.BlockSize == 0
}

// creditedGroup is the group of an event about blocks known before. A connector
// that does not say which group it saved is believed for the first full one only,
// which never promises more than there is.
func (m *Mirror) creditedGroup(ev *kvevents.Event, index uint32) uint32 {
	if ev.HasGroup || len(m.groups) < 2 {
		return index
	}
	for i := range uint32(maxGroup + 1) {
		if g := m.groups[i]; g != nil && g.Kind == GroupFull {
			return i
		}
	}
	return index
}

// store takes the residency out of a BlockStored. Learned begins with the entries
// of the next chained store; what follows them is returned.
func (m *Mirror) store(ev *kvevents.Event, r reading, learned []*entry) []*entry {
	if r.tier > T1 {
		m.noticeTiers()
	}
	if r.class == classChained || r.class == classPartial {
		m.hint(ev)
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

// lookup returns the entry of a hash at a block size, or nil.
func (m *Mirror) lookup(hash uint64, size uint32) *entry {
	for e := m.entries[hash]; e != nil; e = e.next {
		if e.blockSize == size {
			return e
		}
	}
	return nil
}

// obtain returns the entry of a hash at a block size, made when it is missing;
// nil when there is no room for it.
func (m *Mirror) obtain(hash uint64, size uint32) *entry {
	if e := m.lookup(hash, size); e != nil {
		return e
	}
	if m.known >= m.opts.Limits.Blocks {
		return nil
	}
	e := &entry{hash: hash, blockSize: size, next: m.entries[hash]}
	m.entries[hash] = e
	m.known++
	m.unplaced.push(e)
	return e
}

// refuse notes blocks for which there is no room.
func (m *Mirror) refuse(blocks int) {
	m.stats.Refused += int64(blocks)
	m.confidence.Degraded = "the engine announces more than the subscriber may remember"
}

// drop forgets an entry.
func (m *Mirror) drop(e *entry) {
	e.leave()
	e.dropped = true
	m.stopWaiting(e)
	m.unlink(e)
	m.known--
	if e.node != nil {
		m.release(e.node)
		return
	}
	m.abandon(e)
	if !e.resident() {
		return
	}
	m.confidence.Unresolved--
	for _, r := range e.residencies {
		if r.tier == T1 {
			m.copies[r.group] -= int64(r.copies)
		}
	}
}

// unlink takes an entry out of the map.
func (m *Mirror) unlink(e *entry) {
	head := m.entries[e.hash]
	if head == e {
		if e.next == nil {
			delete(m.entries, e.hash)
		} else {
			m.entries[e.hash] = e.next
		}
		return
	}
	for head.next != e {
		head = head.next
	}
	head.next = e.next
}
