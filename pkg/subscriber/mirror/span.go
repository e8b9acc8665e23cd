/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

// spanKey names the stores of one hash that cover several blocks.
type spanKey struct {
	hash uint64
	size uint32
	lane uint8
}

// span is a run of blocks that a connector saved under the hash of the last one.
type span struct {
	hashes []uint64
	copies int
}

// storeSpan counts a store that carries no tokens: a connector moved blocks that
// the engine had announced before. Its block size may be a multiple of theirs; it
// then covers that many blocks, the hash being that of the last one.
func (m *Mirror) storeSpan(hash uint64, size uint32, r reading) {
	g := m.groups[r.group]
	if g == nil || g.ignored || size%g.BlockSize != 0 {
		m.stats.UnknownStores++
		return
	}
	head := m.lookup(hash, g.BlockSize)
	if head == none {
		m.stats.UnknownStores++
		return
	}
	blocks, l := int(size/g.BlockSize), m.lane(r.group, r.tier)
	if blocks == 1 {
		m.addCopy(head, l)
		return
	}
	key := spanKey{hash: hash, size: g.BlockSize, lane: l}
	s := m.spans[key]
	if s == nil {
		s = &span{hashes: m.ending(head, blocks)}
		m.spans[key] = s
	}
	s.copies++
	for _, hash := range s.hashes {
		if i := m.lookup(hash, key.size); i != none {
			m.addCopy(i, l)
		}
	}
}

// ending returns the hashes of the last blocks of the chain that ends with a block,
// as far as they are known.
func (m *Mirror) ending(i uint32, blocks int) []uint64 {
	size := m.sizeOf(i, m.at(i))
	run := []uint64{m.at(i).hash()}
	for len(run) < blocks {
		if i = m.blockBefore(i, size); i == none {
			break
		}
		run = append(run, m.at(i).hash())
	}
	return run
}

// blockBefore returns the named block before another one, or none.
func (m *Mirror) blockBefore(i, size uint32) uint32 {
	b := m.at(i)
	if !b.placed() {
		if e := m.parked[i]; e.hasParent {
			return m.lookup(e.parent, size)
		}
		return none
	}
	before := b.parent
	if parent := m.parentOf(i, b); parent.Present && (before == none || !m.at(before).named()) {
		before = m.findContent(b.scope(), parent.Hash)
	}
	if before == none || !m.at(before).named() {
		return none
	}
	return before
}

// removeSpan takes one store that covers several blocks away, if there is one.
func (m *Mirror) removeSpan(head uint32, l uint8) bool {
	if len(m.spans) == 0 {
		return false
	}
	b := m.at(head)
	key := spanKey{hash: b.hash(), size: m.sizeOf(head, b), lane: l}
	s := m.spans[key]
	if s == nil {
		return false
	}
	for _, hash := range s.hashes {
		i := m.lookup(hash, key.size)
		if i == none {
			continue
		}
		if was := m.copiesOf(i, m.at(i), l); was.count > 0 {
			m.setCopies(i, l, was, was.count-1)
		}
	}
	if s.copies--; s.copies == 0 {
		delete(m.spans, key)
	}
	return true
}
