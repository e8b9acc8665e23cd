/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

// Engine hashes are known by their last 8 bytes. Engines that publish integers
// publish no more of their digests than that, and an engine may send both forms.
// Two blocks whose digests end alike, which some pair of four million does once in
// two million times, look like one that changed its content: the earlier content
// is given up, and the later one becomes merely possible when a copy is removed
// that may have been its own. So a collision makes answers lower, not wrong.

// lookup returns the block of a hash at a block size, or none.
func (m *Mirror) lookup(hash uint64, size uint32) uint32 {
	for f := m.hashes.find(hash); ; {
		i := f.next()
		if i == none {
			return none
		}
		if b := m.at(i); b.hash() == hash && m.sizeOf(i, b) == size {
			return i
		}
	}
}

// sizeOf returns the number of tokens of a named block.
func (m *Mirror) sizeOf(i uint32, b *block) uint32 {
	if b.placed() {
		return m.scopes[b.scope()].blockSize
	}
	return m.parked[i].size
}

// name makes a block for a hash; none when there is no room for it.
func (m *Mirror) name(hash uint64) uint32 {
	if m.known >= m.opts.Limits.Blocks || m.blocks.full(1) {
		return none
	}
	i := m.blocks.alloc()
	m.known++
	m.index(hash, i)
	return i
}

// index gives a block its name and makes it findable.
func (m *Mirror) index(hash uint64, i uint32) {
	if m.hashes.full() {
		m.hashes = m.rebuilt(&m.hashes, isNamed, (*block).hash)
	}
	b := m.at(i)
	b.setHash(hash)
	b.place |= isNamed
	m.hashes.insert(hash, i)
}

// obtain returns the block of a hash at a block size, made without a position when
// it is missing; none when there is no room for it.
func (m *Mirror) obtain(hash uint64, size uint32) uint32 {
	if i := m.lookup(hash, size); i != none {
		return i
	}
	i := m.name(hash)
	if i != none {
		m.park(i, size)
	}
	return i
}

// findContent returns the block where a content is found, or none.
func (m *Mirror) findContent(scope uint32, content uint64) uint32 {
	for f := m.contents.find(tableKey(scope, content)); ; {
		i := f.next()
		if i == none || m.isContent(i, scope, content) {
			return i
		}
	}
}

// tableKey is the key of a content in the table of contents.
func tableKey(scope uint32, content uint64) uint64 {
	return content + uint64(scope)*0xd6e8feb86659fd93
}

func (b *block) tableKey() uint64 { return tableKey(b.scope(), b.content()) }

// makePrimary makes a placed block the one where its content is found.
func (m *Mirror) makePrimary(i uint32) {
	if m.contents.full() {
		m.contents = m.rebuilt(&m.contents, isPrimary, (*block).tableKey)
	}
	b := m.at(i)
	b.place |= isPrimary
	m.contents.insert(b.tableKey(), i)
}

// rebuilt returns a larger table of the blocks in a role.
func (m *Mirror) rebuilt(old *table, role uint32, key func(*block) uint64) table {
	t := old.grown()
	for i := uint32(1); i < m.blocks.next; i++ {
		if b := m.at(i); b.place&role != 0 {
			t.insert(key(b), i)
		}
	}
	return t
}

// refuse notes blocks for which there is no room.
func (m *Mirror) refuse(blocks int) {
	m.stats.Refused += int64(blocks)
	m.confidence.Degraded = "the engine announces more than the subscriber may remember"
}

// drop forgets a hash.
func (m *Mirror) drop(i uint32) {
	b := m.at(i)
	m.hashes.remove(b.hash(), i)
	m.known--
	if b.placed() {
		if !m.resident(i, b) {
			m.ghosts.count--
		}
		m.dropCopies(i, b)
		m.unname(i)
		return
	}
	m.abandon(i)
	if m.resident(i, b) {
		m.confidence.Unresolved--
		for l := range m.lanes {
			if m.lanes[l].tier == T1 {
				m.copies[m.lanes[l].group] -= int64(m.copiesOf(i, b, uint8(l)).count)
			}
		}
	}
	m.dropCopies(i, b)
	m.unpark(i)
	b.place &^= isNamed
	m.retireBlock(i)
}

// unname takes the hash from a placed block without copies.
func (m *Mirror) unname(i uint32) {
	b := m.at(i)
	b.place &^= isNamed
	if b.primary() {
		m.forgo(i)
		return
	}
	n := m.findContent(b.scope(), b.content())
	m.retireBlock(i)
	m.forgo(n)
}
