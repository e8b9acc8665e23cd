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
	buckets := map[runKey][]uint32{}
	for i := uint32(1); i < m.blocks.next; i++ {
		m.reported(i, func(l uint8, c Certainty) {
			key := m.runKeyOf(laneRef{i, l}, c)
			buckets[key] = append(buckets[key], i)
		})
	}
	keys := make([]runKey, 0, len(buckets))
	for key := range buckets {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b runKey) int {
		return cmp.Or(cmp.Compare(a.scope, b.scope), cmp.Compare(a.group, b.group),
			cmp.Compare(a.tier, b.tier), cmp.Compare(a.certainty, b.certainty))
	})
	heirs := make([]uint32, m.blocks.next)
	for _, key := range keys {
		out = m.appendRuns(out, key, buckets[key], heirs)
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

// appendRuns cuts a set of contents into runs as long as they get when every
// content is followed by one of its children at most: its heir. Heirs is scratch
// space, and zero.
func (m *Mirror) appendRuns(out []Change, key runKey, blocks, heirs []uint32) []Change {
	content := func(i uint32) uint64 { return m.at(i).content() }
	for _, i := range blocks {
		if parent := m.reportedParent(i, key); parent != none && (heirs[parent] == none || content(i) < content(heirs[parent])) {
			heirs[parent] = i
		}
	}
	var heads []uint32
	for _, i := range blocks {
		if parent := m.reportedParent(i, key); parent == none || heirs[parent] != i {
			heads = append(heads, i)
		}
	}
	slices.SortFunc(heads, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(m.at(a).depth(), m.at(b).depth()), cmp.Compare(content(a), content(b)))
	})
	hashes := make([]uint64, 0, len(blocks))
	for _, head := range heads {
		run, first := m.startRun(key, head), len(hashes)
		for i := head; i != none; i = heirs[i] {
			hashes = append(hashes, content(i))
		}
		run.Hashes = hashes[first:len(hashes):len(hashes)]
		out = append(out, run)
	}
	for _, i := range blocks {
		heirs[i] = none
	}
	return out
}

// reportedParent returns the primary block of the content before a block if that is
// reported in the same place, else none.
func (m *Mirror) reportedParent(i uint32, key runKey) uint32 {
	b := m.at(i)
	parent := m.parentOf(i, b)
	if !parent.Present {
		return none
	}
	before := b.parent
	if before == none || !m.at(before).primary() {
		before = m.findContent(b.scope(), parent.Hash)
	}
	if before == none || !m.follows(i, before) {
		return none
	}
	same := false
	m.reported(before, func(l uint8, c Certainty) {
		same = same || m.runKeyOf(laneRef{before, l}, c) == key
	})
	if !same {
		return none
	}
	return before
}
