/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import "slices"

// node is what is known about a special content: one of which its block alone
// cannot say where it is, and how certain that is. Contents become special when
// they get a second hash or a second copy that means something, or when they are
// merely possible or inferred, and mostly stop being so later.
type node struct {
	block uint32
	// slots hold the residency, one for each lane in use.
	slots []slot
	// refs counts the hashes and partials that stand for the content.
	refs int32
	// contested: two engine hashes, or two namespaces, had this content.
	contested bool
}

// slot is the residency of a content in one lane.
type slot struct {
	lane uint8
	// emitted is the certainty that was reported last; 0 is none.
	emitted Certainty
	// instances counts the engine hashes that are resident; where two namespaces
	// share a hash, the copies of it.
	instances int32
	// possible counts the announcements that may mean this block.
	possible int32
	// departed are the hashes that went while others stayed: the slot is ambiguous.
	departed  []uint64
	ambiguous bool
	// inferred: the block left a nearer tier and may be here.
	inferred bool
	dirty    bool
}

// find returns the slot of a lane, or nil.
func (n *node) find(l uint8) *slot {
	for i := range n.slots {
		if n.slots[i].lane == l {
			return &n.slots[i]
		}
	}
	return nil
}

// slot returns the slot of a lane, made when it is missing.
func (n *node) slot(l uint8) *slot {
	if s := n.find(l); s != nil {
		return s
	}
	n.slots = append(n.slots, slot{lane: l})
	return &n.slots[len(n.slots)-1]
}

// usual is the certainty of what an engine has announced in a scope.
func (m *Mirror) usual(scope uint32) Certainty {
	if m.scopes[scope].revocable {
		return Possible
	}
	return Announced
}

// certainty is what a slot should be reported as; 0 is not at all.
func (m *Mirror) certainty(scope uint32, s *slot) Certainty {
	switch {
	case s.instances > 0 && !s.ambiguous:
		return m.usual(scope)
	case s.inferred && !m.scopes[scope].revocable:
		return Inferred
	case s.instances > 0 || s.possible > 0 || s.inferred:
		return Possible
	default:
		return 0
	}
}

// nodeOf returns the node of a placed block's content, which becomes special if it
// was not.
func (m *Mirror) nodeOf(i uint32) *node {
	b := m.at(i)
	if !b.primary() {
		i = m.findContent(b.scope(), b.content())
	}
	return m.nodeAt(i)
}

// nodeAt returns the node of a primary block, made out of the block's own record
// when the content was not special.
func (m *Mirror) nodeAt(i uint32) *node {
	b := m.at(i)
	if b.special() {
		return m.special[i]
	}
	n := m.emptyNode(i)
	if b.named() {
		n.refs = 1
		m.heldLanes(i, b, func(l uint8, c copies) { n.slot(l).instances = m.instances(c.count) })
	}
	for l := range uint8(inlineLanes) {
		if b.told>>l&1 == 1 {
			n.slot(l).emitted = m.usual(b.scope())
		}
	}
	b.told = 0
	return n
}

// emptyNode makes the content of a primary block special.
func (m *Mirror) emptyNode(i uint32) *node {
	n := &node{block: i}
	m.special[i] = n
	m.at(i).home |= isSpecial
	return n
}

// simplify makes a content ordinary again if its block alone says everything.
func (m *Mirror) simplify(n *node) {
	b := m.at(n.block)
	if n.contested || n.refs != 1 || !b.named() || b.crowded() {
		return
	}
	told := uint8(0)
	for i := range n.slots {
		s := &n.slots[i]
		if s.lane >= inlineLanes || s.dirty || s.ambiguous || s.inferred || s.possible > 0 ||
			s.instances != int32(b.held>>s.lane&1) || s.emitted != 0 && s.emitted != m.usual(b.scope()) {
			return
		}
		if s.emitted != 0 {
			told |= 1 << s.lane
		}
	}
	b.told = told
	b.home &^= isSpecial
	delete(m.special, n.block)
}

// dirtyLane names a residency that may have to be reported anew.
type dirtyLane = laneRef

// touch notes that the residency of an ordinary content may have changed.
func (m *Mirror) touch(i uint32, l uint8) {
	m.dirty = append(m.dirty, dirtyLane{i, l})
}

// touchSlot notes that a slot may have to be reported anew.
func (m *Mirror) touchSlot(n *node, s *slot) {
	if !s.dirty {
		s.dirty = true
		m.touch(n.block, s.lane)
	}
}

// raise adds instances of a content that an engine hash stands for.
func (m *Mirror) raise(n *node, l uint8, hash uint64, by int32) {
	s := n.slot(l)
	s.instances += by
	if s.instances > 1 && !n.contested {
		n.contested = true
		m.confidence.Conflicts++
	}
	if s.ambiguous && m.opts.Engine != SGLang {
		s.rejoin(hash)
	}
	m.touchSlot(n, s)
}

// lower takes instances away.
func (m *Mirror) lower(n *node, l uint8, hash uint64, by int32) {
	s := n.slot(l)
	s.instances = max(0, s.instances-by)
	if s.instances == 0 {
		// Nothing is left to be mistaken for something else.
		s.ambiguous, s.departed = false, nil
		m.touchSlot(n, s)
		return
	}
	m.doubt(n, l, hash)
}

// doubt notes that a copy went and others stayed, and that nobody can tell whether
// it was one of this content.
func (m *Mirror) doubt(n *node, l uint8, hash uint64) {
	s := n.slot(l)
	s.ambiguous = true
	if !slices.Contains(s.departed, hash) {
		s.departed = append(s.departed, hash)
	}
	m.touchSlot(n, s)
}

// rejoin notes that a hash which had left is back. When all are, the content is
// resident under every name it is known by.
func (s *slot) rejoin(hash uint64) {
	if i := slices.Index(s.departed, hash); i >= 0 {
		s.departed = slices.Delete(s.departed, i, i+1)
	}
	if len(s.departed) == 0 {
		s.ambiguous, s.departed = false, nil
	}
}

// forgo takes a hash or a partial from those that stand for a content, and forgets
// the content with the last one, as soon as nothing of it is reported any more.
func (m *Mirror) forgo(i uint32) {
	if m.at(i).special() {
		n := m.special[i]
		n.refs--
		if n.refs == 0 {
			for at := range n.slots {
				if s := &n.slots[at]; s.inferred {
					s.inferred = false
					m.touchSlot(n, s)
				}
			}
		}
	}
	m.sweep(i)
}

// sweep forgets what a primary block does not need any more, and its content when
// it has become pointless.
func (m *Mirror) sweep(i uint32) {
	b := m.at(i)
	if !b.primary() {
		return
	}
	if b.special() {
		n := m.special[i]
		n.slots = slices.DeleteFunc(n.slots, func(s slot) bool {
			return s.emitted == 0 && m.certainty(b.scope(), &s) == 0 && !s.dirty
		})
		if n.refs > 0 || len(n.slots) > 0 {
			m.simplify(n)
			return
		}
		if n.contested {
			m.confidence.Conflicts--
		}
		b.home &^= isSpecial
		delete(m.special, i)
	} else if b.named() || b.told != 0 {
		return
	}
	m.contents.remove(b.tableKey(), i)
	b.place &^= isPrimary
	if !b.named() {
		m.retireBlock(i)
	}
}
