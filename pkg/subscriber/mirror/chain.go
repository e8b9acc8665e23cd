/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import (
	"inferencecache.io/inference-cache/pkg/fingerprint"
	"inferencecache.io/inference-cache/pkg/kvevents"
)

// position is a place in a chain: what a block continues, how many blocks lie
// before it, and the content that results.
type position struct {
	parent  fingerprint.Parent
	content uint64
	depth   uint32
}

// cursor is the place after a block, where the next one goes.
type cursor struct {
	parent fingerprint.Parent
	scope  uint32
	depth  uint32
	known  bool
}

// at returns the position of a block with its own content hash.
func (c cursor) at(own uint64) position {
	return position{parent: c.parent, content: fingerprint.Next(c.parent, own), depth: c.depth}
}

// after returns the cursor behind a content.
func after(n *node) cursor {
	return cursor{
		parent: fingerprint.Parent{Hash: n.content, Present: true},
		scope:  n.scope, depth: n.depth + 1, known: true,
	}
}

// placement is an entry whose position has been found.
type placement struct {
	entry *entry
	scope uint32
	at    position
}

// learn takes the mapping from hashes to contents out of a store that lists every
// block. Residency is another matter; see store.
func (m *Mirror) learn(ev *kvevents.Event) {
	first := len(m.learned)
	m.learned = append(m.learned, make([]*entry, len(ev.Hashes))...)
	adapter, ok := m.adapter(adapterOf(ev), m.opts.Limits.Scopes)
	if !ok {
		m.refuse(len(ev.Hashes))
		return
	}
	size := uint32(ev.BlockSize)
	at := m.follow(ev, size)
	parent, hasParent := ev.Parent.Uint64(), ev.HasParent
	for i := range ev.Hashes {
		own := fingerprint.Content(ev.Tokens[i*ev.BlockSize : (i+1)*ev.BlockSize])
		root := i == 0 && !ev.HasParent
		keys, salt := m.blockKeys(extraKeys(ev, i), ev.LoRAName, root)
		own = fingerprint.WithKeys(own, keys)
		if root {
			salt = firstNonEmpty(salt, ev.CacheSalt)
			m.noteSalt(salt)
			at = m.root(adapter, size, salt)
		}
		e := m.obtain(ev.Hashes[i].Uint64(), size)
		if e == nil {
			m.refuse(len(ev.Hashes) - i)
			return
		}
		m.learned[first+i] = e
		e.adapter, e.own, e.hasOwn = adapter, own, true
		m.adopt(e, parent, hasParent, at)
		at = cursor{}
		if e.node != nil {
			at = after(e.node)
		}
		parent, hasParent = e.hash, true
	}
}

// follow returns the place after the parent of an event, if that is known.
func (m *Mirror) follow(ev *kvevents.Event, size uint32) cursor {
	if !ev.HasParent {
		return cursor{}
	}
	e := m.lookup(ev.Parent.Uint64(), size)
	if e == nil || e.node == nil {
		return cursor{}
	}
	if e.list == &m.ghosts {
		// Parents are worth remembering as long as they have children.
		m.ghosts.push(e)
	}
	return after(e.node)
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

// adopt puts an entry at its position, or lets it wait for its parent. An entry
// that has a position keeps it while that of the event is unknown.
func (m *Mirror) adopt(e *entry, parent uint64, hasParent bool, at cursor) {
	switch {
	case at.known && at.depth < maxDepth:
		to := at.at(e.own)
		if e.node != nil {
			if e.node.scope == at.scope && e.node.content == to.content {
				return
			}
			m.stats.Remapped++
			m.detach(e)
		}
		m.stopWaiting(e)
		e.parent, e.hasParent = parent, hasParent
		m.place(placement{entry: e, scope: at.scope, at: to})
	case e.node == nil && hasParent:
		m.wait(e, parent)
	}
}

// wait registers an unplaced entry with its parent.
func (m *Mirror) wait(e *entry, parent uint64) {
	if e.waits && e.parent == parent {
		return
	}
	m.stopWaiting(e)
	e.parent, e.hasParent, e.waits = parent, true, true
	if head := m.waiting[parent]; head != nil {
		e.waitPost, head.waitPrev = head, e
	}
	m.waiting[parent] = e
}

// stopWaiting takes an entry from those waiting for its parent.
func (m *Mirror) stopWaiting(e *entry) {
	if !e.waits {
		return
	}
	if e.waitPost != nil {
		e.waitPost.waitPrev = e.waitPrev
	}
	switch {
	case e.waitPrev != nil:
		e.waitPrev.waitPost = e.waitPost
	case e.waitPost != nil:
		m.waiting[e.parent] = e.waitPost
	default:
		delete(m.waiting, e.parent)
	}
	e.waits, e.waitPrev, e.waitPost = false, nil, nil
}

// place puts an entry at its position, and then everything that was waiting for
// it. What that brings to light joins a queue; nothing here recurses.
func (m *Mirror) place(p placement) {
	m.placements = append(m.placements, p)
	m.settle()
}

// settle works off what waits to be placed or pinned.
func (m *Mirror) settle() {
	if m.placing {
		return
	}
	m.placing = true
	for len(m.placements)+len(m.pins) > 0 {
		if last := len(m.placements) - 1; last >= 0 {
			p := m.placements[last]
			m.placements = m.placements[:last]
			m.attach(p)
			continue
		}
		last := len(m.pins) - 1
		p := m.pins[last]
		m.pins = m.pins[:last]
		m.pin(p)
	}
	m.placing = false
}

// attach gives an entry its content and queues who waited for it.
func (m *Mirror) attach(p placement) {
	e := p.entry
	if e.dropped || e.node != nil {
		return
	}
	n := m.node(p.scope, p.at)
	n.refs++
	e.node = n
	m.stopWaiting(e)
	e.leave()
	if e.resident() {
		m.confidence.Unresolved--
	} else {
		m.ghosts.push(e)
	}
	for _, r := range e.residencies {
		m.raise(n, r.group, r.tier, e.hash, m.instances(r.copies))
	}
	for _, partial := range e.partials {
		partial.pending--
		m.pins = append(m.pins, partial)
	}
	e.partials = nil
	m.wake(e)
}

// wake queues the entries and partials that waited for a parent.
func (m *Mirror) wake(parent *entry) {
	for e := m.waiting[parent.hash]; e != nil; {
		child := e
		e = e.waitPost
		if child.blockSize != parent.blockSize || !child.hasOwn {
			continue
		}
		m.stopWaiting(child)
		at := after(parent.node)
		if at.depth >= maxDepth {
			continue
		}
		m.placements = append(m.placements, placement{entry: child, scope: at.scope, at: at.at(child.own)})
	}
	if late := m.late[parent.hash]; late != nil {
		delete(m.late, parent.hash)
		m.pins = append(m.pins, late...)
	}
}

// detach takes an entry from its content, for good or to move it.
func (m *Mirror) detach(e *entry) {
	n := e.node
	for _, r := range e.residencies {
		s := n.slot(r.group, r.tier)
		s.instances = max(0, s.instances-m.instances(r.copies))
		if s.instances == 0 && s.ambiguous {
			s.ambiguous = false
			delete(m.departed, slotRef{node: n, group: r.group, tier: r.tier})
		}
		m.touch(n, s)
	}
	e.node = nil
	m.unplaced.push(e)
	if e.resident() {
		m.confidence.Unresolved++
	}
	m.release(n)
}

// instances is what a number of copies counts for in a slot. Copies of one block
// are one instance; where a second copy is another namespace, each is its own.
func (m *Mirror) instances(copies int32) int32 {
	if m.opts.Engine == SGLang {
		return copies
	}
	return 1
}
