/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import (
	"cmp"
	"math/bits"
	"slices"
)

// Snapshot returns changes that build, from nothing, the state as of the last
// Flush. Equal states give equal snapshots. It takes time in proportion to what
// the engine holds.
func (m *Mirror) Snapshot() []Change {
	var out []Change
	for id := range m.scopes {
		out = append(out, m.declareScope(uint32(id)))
	}
	for i := range uint32(maxGroup + 1) {
		if g := m.groups[i]; g != nil && !g.ignored {
			out = append(out, g.GroupDeclared)
		}
	}
	sets := m.placeSets()
	heirs := make([]uint32, m.blocks.next)
	for _, b := range sets.sorted() {
		out = m.appendRuns(out, b, sets.of, heirs)
	}
	return append(out, ConfidenceChanged{m.told})
}

// reported calls fn for the lanes in which a content was reported last.
func (m *Mirror) reported(i uint32, fn func(l uint8, c Certainty)) {
	b := m.at(i)
	if b.special() {
		for _, s := range m.special[i].slots {
			if s.emitted != 0 {
				fn(s.lane, s.emitted)
			}
		}
		return
	}
	for told := b.told; told != 0; told &= told - 1 {
		fn(uint8(bits.TrailingZeros8(told)), m.usual(b.scope()))
	}
}

// appendRuns cuts the contents that are in the same places into runs as long as
// they get when every content is followed by one of its children at most: its heir.
// Heirs is scratch space, and zero.
func (m *Mirror) appendRuns(out []Change, b *bunch, sets, heirs []uint32) []Change {
	content := func(i uint32) uint64 { return m.at(i).content() }
	for _, i := range b.blocks {
		if parent := m.parentIn(i, sets); parent != none && (heirs[parent] == none || content(i) < content(heirs[parent])) {
			heirs[parent] = i
		}
	}
	var heads []uint32
	for _, i := range b.blocks {
		if parent := m.parentIn(i, sets); parent == none || heirs[parent] != i {
			heads = append(heads, i)
		}
	}
	slices.SortFunc(heads, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(m.at(a).depth(), m.at(b).depth()), cmp.Compare(content(a), content(b)))
	})
	hashes := make([]uint64, 0, len(b.blocks))
	for _, head := range heads {
		p := b.places[0]
		run, first := m.startRun(runKey{b.scope, p.Group, p.Tier, p.Certainty}, head), len(hashes)
		for i := head; i != none; i = heirs[i] {
			hashes = append(hashes, content(i))
		}
		run.Hashes = hashes[first:len(hashes):len(hashes)]
		run.Also = b.places[1:len(b.places):len(b.places)]
		if len(run.Also) == 0 {
			run.Also = nil
		}
		out = append(out, run)
	}
	for _, i := range b.blocks {
		heirs[i] = none
	}
	return out
}

// parentIn returns the primary block of the content before a block if that is in
// the same places, else none.
func (m *Mirror) parentIn(i uint32, sets []uint32) uint32 {
	b := m.at(i)
	parent := m.parentOf(i, b)
	if !parent.Present {
		return none
	}
	before := b.parent
	if before == none || !m.at(before).primary() {
		before = m.findContent(b.scope(), parent.Hash)
	}
	if before == none || sets[before] != sets[i] || !m.follows(i, before) {
		return none
	}
	return before
}
