/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

// spanKey names the stores of one hash that cover several blocks.
type spanKey struct {
	head  *entry
	group uint32
	tier  Tier
}

// span is a run of blocks that a connector saved under the hash of the last one.
type span struct {
	blocks []*entry
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
	if head == nil {
		m.stats.UnknownStores++
		return
	}
	blocks := int(size / head.blockSize)
	if blocks == 1 {
		m.addCopy(head, r.group, r.tier)
		return
	}
	key := spanKey{head: head, group: r.group, tier: r.tier}
	s := m.spans[key]
	if s == nil {
		s = &span{blocks: m.ending(head, blocks)}
		m.spans[key] = s
	}
	s.copies++
	for _, e := range s.blocks {
		m.addCopy(e, r.group, r.tier)
	}
}

// ending returns the last blocks of the chain that ends with an entry, as far as
// they are known.
func (m *Mirror) ending(e *entry, blocks int) []*entry {
	run := []*entry{e}
	for len(run) < blocks && e.hasParent {
		if e = m.lookup(e.parent, e.blockSize); e == nil {
			break
		}
		run = append(run, e)
	}
	return run
}

// removeSpan takes one store that covers several blocks away, if there is one.
func (m *Mirror) removeSpan(head *entry, group uint32, tier Tier) bool {
	if len(m.spans) == 0 {
		return false
	}
	key := spanKey{head: head, group: group, tier: tier}
	s := m.spans[key]
	if s == nil {
		return false
	}
	for _, e := range s.blocks {
		if r := e.residency(group, tier); r != nil {
			m.setCopies(e, group, tier, r.copies-1)
		}
	}
	if s.copies--; s.copies == 0 {
		delete(m.spans, key)
	}
	return true
}
