/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import "inferencecache.io/inference-cache/pkg/fingerprint"

// runKey is what blocks must share to be reported in one change.
type runKey struct {
	scope, group uint32
	tier         Tier
	certainty    Certainty
}

// removalWindow is how many changes back a removal looks for one that it can
// join.
const removalWindow = 16

// keptScratch is the capacity up to which scratch space is kept.
const keptScratch = 1 << 15

// Flush returns the difference between what was reported last and what is. A
// block that came and went in between is not mentioned. The result is nil when
// nothing changed; it belongs to the caller.
func (m *Mirror) Flush() []Change {
	var out []Change
	if m.cleared {
		m.cleared = false
		out = append(out, Cleared{})
	}
	out = append(out, m.declared...)
	m.declared = nil
	out = m.flushRemovals(out)
	out = m.flushStores(out)
	for _, ref := range m.dirty {
		m.sweep(ref.node)
	}
	clear(m.dirty)
	m.dirty = m.dirty[:0]
	if cap(m.dirty) > keptScratch {
		m.dirty = nil
	}
	m.confidence.Unbounded = m.unbounded()
	if m.confidence != m.told {
		m.told = m.confidence
		out = append(out, ConfidenceChanged{m.confidence})
	}
	return out
}

// unbounded counts the resident blocks that may lie anywhere. Entries without a
// position are few, and bounded.
func (m *Mirror) unbounded() int64 {
	if m.confidence.Unresolved == 0 {
		return 0
	}
	n := int64(0)
	for e := m.unplaced.head; e != nil; e = e.post {
		if e.resident() && !e.bounded() {
			n++
		}
	}
	return n
}

// flushRemovals reports what is no longer so. Removals precede stores, so that
// the receiver never holds more than the engine does.
func (m *Mirror) flushRemovals(out []Change) []Change {
	first := len(out)
	var runs []Removed
	for _, ref := range m.dirty {
		s := ref.node.find(ref.group, ref.tier)
		if s.emitted == 0 || s.emitted == m.certainty(ref.node, s) {
			continue
		}
		key := runKey{ref.node.scope, ref.group, ref.tier, s.emitted}
		joined := false
		for i := len(runs) - 1; i >= max(0, len(runs)-removalWindow); i-- {
			if r := &runs[i]; (runKey{r.Scope, r.Group, r.Tier, r.Certainty}) == key {
				r.Hashes = append(r.Hashes, ref.node.content)
				joined = true
				break
			}
		}
		if !joined {
			runs = append(runs, Removed{
				Scope: key.scope, Group: key.group, Tier: key.tier, Certainty: key.certainty,
				Hashes: []uint64{ref.node.content},
			})
		}
	}
	for i := range runs {
		out = append(out, runs[i])
	}
	return out[:first+len(runs)]
}

// flushStores reports what is so now, consecutive blocks of a chain together.
func (m *Mirror) flushStores(out []Change) []Change {
	var run Stored
	var last *node
	for _, ref := range m.dirty {
		n := ref.node
		s := n.find(ref.group, ref.tier)
		was, is := s.emitted, m.certainty(n, s)
		s.dirty, s.emitted = false, is
		if is == 0 || is == was {
			continue
		}
		key := runKey{n.scope, ref.group, ref.tier, is}
		if last != nil && key == (runKey{run.Scope, run.Group, run.Tier, run.Certainty}) && n.follows(last) {
			run.Hashes = append(run.Hashes, n.content)
			last = n
			continue
		}
		if last != nil {
			out = append(out, run)
		}
		run, last = startRun(key, n), n
	}
	if last != nil {
		out = append(out, run)
	}
	return out
}

// follows reports whether n is the block after other.
func (n *node) follows(other *node) bool {
	return n.hasParent && n.parent == other.content && n.depth == other.depth+1 && n.scope == other.scope
}

// startRun returns a change that stores one block.
func startRun(key runKey, n *node) Stored {
	return Stored{
		Scope: key.scope, Group: key.group, Tier: key.tier, Certainty: key.certainty,
		Parent: fingerprint.Parent{Hash: n.parent, Present: n.hasParent},
		Depth:  n.depth, Hashes: []uint64{n.content},
	}
}
