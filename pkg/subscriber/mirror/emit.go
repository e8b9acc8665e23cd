/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

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
		if b := m.at(ref.block); b.special() || !b.named() {
			m.sweep(ref.block)
		}
	}
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

// unbounded counts the resident blocks that may lie anywhere. Hashes without a
// position are few, and bounded.
func (m *Mirror) unbounded() int64 {
	if m.confidence.Unresolved == 0 {
		return 0
	}
	n := int64(0)
	for e := m.unplaced.head; e != nil; e = e.post {
		if m.resident(e.block, m.at(e.block)) && !e.bounded() {
			n++
		}
	}
	return n
}

// residencyOf returns the certainty with which a lane of a content was reported
// last, and the one that is right now; 0 is none.
func (m *Mirror) residencyOf(ref laneRef) (was, is Certainty) {
	b := m.at(ref.block)
	if !b.primary() {
		return 0, 0
	}
	if b.special() {
		s := m.special[ref.block].find(ref.lane)
		if s == nil {
			return 0, 0
		}
		return s.emitted, m.certainty(b.scope(), s)
	}
	if b.told>>ref.lane&1 == 1 {
		was = m.usual(b.scope())
	}
	if b.held>>ref.lane&1 == 1 && b.named() {
		is = m.usual(b.scope())
	}
	return was, is
}

// tell notes what is reported of a lane of a content.
func (m *Mirror) tell(ref laneRef, c Certainty) {
	b := m.at(ref.block)
	if b.special() {
		m.special[ref.block].find(ref.lane).emitted = c
		return
	}
	b.told &^= 1 << ref.lane
	if c != 0 {
		b.told |= 1 << ref.lane
	}
}

// runKeyOf returns what a residency has in common with its neighbours.
func (m *Mirror) runKeyOf(ref laneRef, c Certainty) runKey {
	l := m.lanes[ref.lane]
	return runKey{m.at(ref.block).scope(), l.group, l.tier, c}
}

// flushRemovals reports what is no longer so. Removals precede stores, so that
// the receiver never holds more than the engine does.
func (m *Mirror) flushRemovals(out []Change) []Change {
	var runs []Removed
	for _, ref := range m.dirty {
		was, is := m.residencyOf(ref)
		if was == 0 || was == is {
			continue
		}
		m.tell(ref, 0)
		key, content := m.runKeyOf(ref, was), m.at(ref.block).content()
		joined := false
		for i := len(runs) - 1; i >= max(0, len(runs)-removalWindow); i-- {
			if r := &runs[i]; (runKey{r.Scope, r.Group, r.Tier, r.Certainty}) == key {
				r.Hashes = append(r.Hashes, content)
				joined = true
				break
			}
		}
		if !joined {
			runs = append(runs, Removed{
				Scope: key.scope, Group: key.group, Tier: key.tier, Certainty: key.certainty,
				Hashes: []uint64{content},
			})
		}
	}
	for i := range runs {
		out = append(out, runs[i])
	}
	return out
}

// flushStores reports what is so now, consecutive blocks of a chain together.
func (m *Mirror) flushStores(out []Change) []Change {
	var run Stored
	var hashes []uint64
	last := uint32(none)
	for at, ref := range m.dirty {
		was, is := m.residencyOf(ref)
		if is == was {
			m.clean(ref)
			continue
		}
		m.tell(ref, is)
		m.clean(ref)
		key, content := m.runKeyOf(ref, is), m.at(ref.block).content()
		if hashes == nil {
			hashes = make([]uint64, 0, len(m.dirty)-at)
		}
		hashes = append(hashes, content)
		if last != none && key == (runKey{run.Scope, run.Group, run.Tier, run.Certainty}) && m.follows(ref.block, last) {
			run.Hashes = hashes[len(hashes)-len(run.Hashes)-1 : len(hashes) : len(hashes)]
			last = ref.block
			continue
		}
		if last != none {
			out = append(out, run)
		}
		run, last = m.startRun(key, ref.block), ref.block
		run.Hashes = hashes[len(hashes)-1 : len(hashes) : len(hashes)]
	}
	if last != none {
		out = append(out, run)
	}
	return out
}

// clean notes that a slot is reported as it is.
func (m *Mirror) clean(ref laneRef) {
	if m.at(ref.block).special() {
		if s := m.special[ref.block].find(ref.lane); s != nil {
			s.dirty = false
		}
	}
}

// follows reports whether a content is the one after another.
func (m *Mirror) follows(i, other uint32) bool {
	b, before := m.at(i), m.at(other)
	if b.depth() != before.depth()+1 || b.scope() != before.scope() {
		return false
	}
	return b.parent == other || m.parentOf(i, b).Hash == before.content()
}

// startRun returns a change that stores blocks from one on.
func (m *Mirror) startRun(key runKey, i uint32) Stored {
	b := m.at(i)
	return Stored{
		Scope: key.scope, Group: key.group, Tier: key.tier, Certainty: key.certainty,
		Parent: m.parentOf(i, b), Depth: b.depth(),
	}
}
