/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import (
	"inferencecache.io/inference-cache/pkg/fingerprint"
)

// position is a place in a chain: what a block continues, how many blocks lie
// before it, and the content that results.
type position struct {
	parent fingerprint.Parent
	// from is the block before, if it has one that is known.
	from    uint32
	content uint64
	depth   uint32
}

// cursor is the place after a block, where the next one goes.
type cursor struct {
	parent fingerprint.Parent
	from   uint32
	scope  uint32
	depth  uint32
	known  bool
}

// at returns the position of a block with its own content hash.
func (c cursor) at(own uint64) position {
	return position{parent: c.parent, from: c.from, content: fingerprint.Next(c.parent, own), depth: c.depth}
}

// after returns the cursor behind a placed block.
func (m *Mirror) after(i uint32) cursor {
	b := m.at(i)
	return cursor{
		parent: fingerprint.Parent{Hash: b.content(), Present: true},
		from:   i, scope: b.scope(), depth: b.depth() + 1, known: true,
	}
}

// placement is a parked hash whose position has been found.
type placement struct {
	parked *parked
	scope  uint32
	at     position
}

// root returns the start of a chain.
func (m *Mirror) root(adapter, size uint32, salt string) cursor {
	scope, ok := m.scope(scopeKey{
		adapter: adapter, blockSize: size, salted: salt != "", revocable: m.revocable(adapter),
	}, m.opts.Limits.Scopes)
	return cursor{parent: fingerprint.SaltParent(salt), scope: scope, known: ok}
}

// revocable reports whether an engine can drop all blocks of an adapter without
// an event. SGLang gives an adapter that is loaded again another identity: no
// event names that identity, and what was stored under the old one stays announced
// until it is evicted. Any adapter can be loaded again, also one that was there
// from the start, so no event proves that a block will still be found.
func (m *Mirror) revocable(adapter uint32) bool {
	return m.opts.Engine == SGLang && !m.opts.AdaptersLoadedOnce && m.adapters[adapter] != ""
}

// adopt puts a hash at its position, or lets it wait for its parent, and returns
// its block; none when there is no room for one. A block that has a position keeps
// it while that of the event is unknown.
func (m *Mirror) adopt(hash uint64, size uint32, own uint64, before ancestor, at cursor) uint32 {
	i := m.lookup(hash, size)
	known := at.known && at.depth < maxDepth
	switch {
	case i != none && m.at(i).placed():
		if !known {
			return i
		}
		to := at.at(own)
		if m.isContent(i, at.scope, to.content) {
			return i
		}
		m.stats.Remapped++
		i = m.detach(i, size)
	case i != none:
	case known:
		if i = m.name(hash); i != none {
			i = m.attach(i, nil, at.scope, at.at(own))
			m.settle()
		}
		return i
	default:
		if i = m.obtain(hash, size); i == none {
			return none
		}
	}
	e := m.parked[i]
	e.own, e.hasOwn = own, true
	switch {
	case known:
		m.stopWaiting(e)
		e.parent, e.hasParent = before.hash, before.present
		m.placements = append(m.placements, placement{parked: e, scope: at.scope, at: at.at(own)})
		m.settle()
		i = m.lookup(hash, size)
	case before.present:
		m.wait(e, before.hash)
	}
	return i
}

// settle works off what waits to be placed or pinned. What that brings to light
// joins the queues; nothing here recurses.
func (m *Mirror) settle() {
	if m.placing {
		return
	}
	m.placing = true
	for len(m.placements)+len(m.pins) > 0 {
		if last := len(m.placements) - 1; last >= 0 {
			p := m.placements[last]
			m.placements = m.placements[:last]
			if m.parked[p.parked.block] == p.parked {
				m.attach(p.parked.block, p.parked, p.scope, p.at)
			}
			continue
		}
		last := len(m.pins) - 1
		p := m.pins[last]
		m.pins = m.pins[:last]
		m.pin(p)
	}
	m.placing = false
}

// attach gives a named block its content, queues who waited for it, and returns
// the block that has the hash now. The hash was parked, or is new.
func (m *Mirror) attach(i uint32, e *parked, scope uint32, at position) uint32 {
	var taken []laneCopies
	if e != nil {
		taken = m.takeCopies(i, m.at(i))
		m.unpark(i)
	}
	hash := m.at(i).hash()
	switch n := m.findContent(scope, at.content); {
	case n == none:
		m.setPlace(i, scope, at)
		m.makePrimary(i)
	case m.at(n).named():
		m.setPlace(i, scope, at)
		m.nodeAt(n).refs++
	default:
		m.rename(i, n)
		i = n
	}
	if len(taken) > 0 {
		m.confidence.Unresolved--
		m.giveCopies(i, taken)
	} else {
		m.ghosts.count++
		if e != nil {
			m.haunt(i, m.at(i))
		}
	}
	if e != nil {
		for _, partial := range e.partials {
			partial.pending--
			m.pins = append(m.pins, partial)
		}
	}
	m.wake(hash, i)
	return i
}

// rename moves the hash of a block that has nothing else to the block of a content
// that has none.
func (m *Mirror) rename(i, to uint32) {
	hash := m.at(i).hash()
	m.hashes.remove(hash, i)
	m.blocks.release(i)
	if m.at(to).special() {
		m.special[to].refs++
	}
	m.index(hash, to)
}

// giveCopies adds the copies of a block that has just been placed.
func (m *Mirror) giveCopies(i uint32, taken []laneCopies) {
	b := m.at(i)
	for _, c := range taken {
		instances := m.instances(c.count)
		if b.primary() && !b.special() && c.lane < inlineLanes && instances == 1 {
			m.putCopies(i, b, c.lane, c.copies)
			m.touch(i, c.lane)
			continue
		}
		n := m.nodeOf(i)
		m.putCopies(i, b, c.lane, c.copies)
		m.raise(n, c.lane, b.hash(), instances)
	}
}

// wake queues the hashes and partials that waited for a parent.
func (m *Mirror) wake(hash uint64, i uint32) {
	if len(m.waiting)+len(m.late) == 0 {
		return
	}
	b := m.at(i)
	for e := m.waiting[hash]; e != nil; {
		child := e
		e = e.waitPost
		if child.size != m.sizeOf(i, b) || !child.hasOwn {
			continue
		}
		m.stopWaiting(child)
		at := m.after(i)
		if at.depth >= maxDepth {
			continue
		}
		m.placements = append(m.placements, placement{parked: child, scope: at.scope, at: at.at(child.own)})
	}
	if late := m.late[hash]; late != nil {
		delete(m.late, hash)
		m.pins = append(m.pins, late...)
	}
}

// detach takes a hash from its content, to move it. The block of the content may
// have children that have not moved, so the hash gets another one, which is
// returned.
func (m *Mirror) detach(i, size uint32) uint32 {
	b := m.at(i)
	hash := b.hash()
	if !m.resident(i, b) {
		m.ghosts.count--
	}
	if !b.primary() || b.special() {
		m.detachInstances(i, b)
	} else {
		m.heldLanes(i, b, func(l uint8, _ copies) { m.touch(i, l) })
	}
	taken := m.takeCopies(i, b)
	m.hashes.remove(hash, i)
	m.unname(i)

	i = m.blocks.alloc()
	m.index(hash, i)
	m.park(i, size)
	for _, c := range taken {
		c.mixed = true
		m.putCopies(i, m.at(i), c.lane, c.copies)
	}
	if len(taken) > 0 {
		m.confidence.Unresolved++
	}
	return i
}

// detachInstances takes the copies of a hash out of its special content.
func (m *Mirror) detachInstances(i uint32, b *block) {
	n := m.nodeOf(i)
	m.heldLanes(i, b, func(l uint8, c copies) {
		s := n.slot(l)
		s.instances = max(0, s.instances-m.instances(c.count))
		if s.instances == 0 {
			s.ambiguous, s.departed = false, nil
		}
		m.touchSlot(n, s)
	})
}

// instances is what a number of copies counts for in a slot. Copies of one block
// are one instance; where a second copy is another namespace, each is its own.
func (m *Mirror) instances(copies int32) int32 {
	if m.opts.Engine == SGLang {
		return copies
	}
	return 1
}
