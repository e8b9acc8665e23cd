/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import "slices"

// nodeKey identifies a content.
type nodeKey struct {
	scope   uint32
	content uint64
}

// node is one content: a block at the end of one prefix.
type node struct {
	nodeKey
	// parent is the content of the block before, if hasParent.
	parent uint64
	// slots hold the residency, one for each group and tier in use.
	slots []slot
	// refs counts the entries and partials that point here.
	refs      int32
	depth     uint32
	hasParent bool
	// contested: two engine hashes, or two namespaces, had this content.
	contested bool
	inline    [1]slot
	// heir is used while a snapshot is taken, and nil otherwise.
	heir *node
}

// slot is the residency of a content in one group and tier.
type slot struct {
	group uint32
	// instances counts the engine hashes that are resident; where two namespaces
	// share a hash, the copies of it.
	instances int32
	// possible counts the announcements that may mean this block.
	possible int32
	tier     Tier
	// emitted is the certainty that was reported last; 0 is none.
	emitted Certainty
	// ambiguous: one of several instances went and another stayed.
	ambiguous bool
	// inferred: the block left a nearer tier and may be here.
	inferred bool
	dirty    bool
}

// slotRef names a slot in a way that stays valid when slots come and go.
type slotRef struct {
	node  *node
	group uint32
	tier  Tier
}

// find returns the slot of a group and tier, or nil.
func (n *node) find(group uint32, tier Tier) *slot {
	for i := range n.slots {
		if s := &n.slots[i]; s.group == group && s.tier == tier {
			return s
		}
	}
	return nil
}

// slot returns the slot of a group and tier, made when it is missing.
func (n *node) slot(group uint32, tier Tier) *slot {
	if s := n.find(group, tier); s != nil {
		return s
	}
	if n.slots == nil {
		n.slots = n.inline[:0]
	}
	n.slots = append(n.slots, slot{group: group, tier: tier})
	return &n.slots[len(n.slots)-1]
}

// certainty is what a slot of a node should be reported as; 0 is not at all.
func (m *Mirror) certainty(n *node, s *slot) Certainty {
	switch {
	case s.instances > 0 && !s.ambiguous && !m.scopes[n.scope].revocable:
		return Announced
	case s.inferred && !m.scopes[n.scope].revocable:
		return Inferred
	case s.instances > 0 || s.possible > 0 || s.inferred:
		return Possible
	default:
		return 0
	}
}

// node returns the node of a content, made when it is missing.
func (m *Mirror) node(scope uint32, at position) *node {
	key := nodeKey{scope: scope, content: at.content}
	n, ok := m.nodes[key]
	if !ok {
		n = &node{nodeKey: key, parent: at.parent.Hash, hasParent: at.depth > 0, depth: at.depth}
		if !n.hasParent {
			n.parent = 0
		}
		m.nodes[key] = n
	}
	return n
}

// touch notes that a slot may have to be reported anew.
func (m *Mirror) touch(n *node, s *slot) {
	if s.dirty {
		return
	}
	s.dirty = true
	m.dirty = append(m.dirty, slotRef{node: n, group: s.group, tier: s.tier})
}

// raise adds an instance of a content that engine hash stands for.
func (m *Mirror) raise(n *node, group uint32, tier Tier, hash uint64, by int32) {
	s := n.slot(group, tier)
	s.instances += by
	if s.instances > 1 && !n.contested {
		n.contested = true
		m.confidence.Conflicts++
	}
	if s.ambiguous && m.opts.Engine != SGLang {
		m.rejoin(n, s, hash)
	}
	m.touch(n, s)
}

// lower takes an instance away.
func (m *Mirror) lower(n *node, group uint32, tier Tier, hash uint64, by int32) {
	s := n.slot(group, tier)
	s.instances = max(0, s.instances-by)
	ref := slotRef{node: n, group: group, tier: tier}
	if s.instances == 0 {
		// Nothing is left to be mistaken for something else.
		if s.ambiguous {
			s.ambiguous = false
			delete(m.departed, ref)
		}
	} else if gone := m.departed[ref]; !slices.Contains(gone, hash) {
		s.ambiguous = true
		m.departed[ref] = append(gone, hash)
	}
	m.touch(n, s)
}

// rejoin notes that a hash which had left is back. When all are, the content is
// resident under every name it is known by.
func (m *Mirror) rejoin(n *node, s *slot, hash uint64) {
	ref := slotRef{node: n, group: s.group, tier: s.tier}
	gone := m.departed[ref]
	if i := slices.Index(gone, hash); i >= 0 {
		gone = slices.Delete(gone, i, i+1)
	}
	if len(gone) > 0 {
		m.departed[ref] = gone
		return
	}
	s.ambiguous = false
	delete(m.departed, ref)
}

// release drops one reference to a node and forgets the node with the last one,
// as soon as nothing of it is reported any more.
func (m *Mirror) release(n *node) {
	n.refs--
	if n.refs > 0 {
		return
	}
	for i := range n.slots {
		if s := &n.slots[i]; s.inferred {
			s.inferred = false
			m.touch(n, s)
		}
	}
	m.sweep(n)
}

// sweep removes empty slots, and the node itself when it has become pointless.
func (m *Mirror) sweep(n *node) {
	n.slots = slices.DeleteFunc(n.slots, func(s slot) bool {
		return s.emitted == 0 && m.certainty(n, &s) == 0 && !s.dirty
	})
	if n.refs > 0 || len(n.slots) > 0 || m.nodes[n.nodeKey] != n {
		return
	}
	if n.contested {
		m.confidence.Conflicts--
	}
	delete(m.nodes, n.nodeKey)
}
