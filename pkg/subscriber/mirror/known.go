/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

// lookup returns the entry of a hash at a block size, or nil.
func (m *Mirror) lookup(hash uint64, size uint32) *entry {
	for e := m.entries[hash]; e != nil; e = e.next {
		if e.blockSize == size {
			return e
		}
	}
	return nil
}

// obtain returns the entry of a hash at a block size, made when it is missing;
// nil when there is no room for it.
func (m *Mirror) obtain(hash uint64, size uint32) *entry {
	if e := m.lookup(hash, size); e != nil {
		return e
	}
	if m.known >= m.opts.Limits.Blocks {
		return nil
	}
	e := &entry{hash: hash, blockSize: size, next: m.entries[hash]}
	m.entries[hash] = e
	m.known++
	m.unplaced.push(e)
	return e
}

// refuse notes blocks for which there is no room.
func (m *Mirror) refuse(blocks int) {
	m.stats.Refused += int64(blocks)
	m.confidence.Degraded = "the engine announces more than the subscriber may remember"
}

// drop forgets an entry.
func (m *Mirror) drop(e *entry) {
	e.leave()
	e.dropped = true
	m.stopWaiting(e)
	m.unlink(e)
	m.known--
	if e.node != nil {
		m.release(e.node)
		return
	}
	m.abandon(e)
	if !e.resident() {
		return
	}
	m.confidence.Unresolved--
	for _, r := range e.residencies {
		if r.tier == T1 {
			m.copies[r.group] -= int64(r.copies)
		}
	}
}

// unlink takes an entry out of the map.
func (m *Mirror) unlink(e *entry) {
	head := m.entries[e.hash]
	if head == e {
		if e.next == nil {
			delete(m.entries, e.hash)
		} else {
			m.entries[e.hash] = e.next
		}
		return
	}
	for head.next != e {
		head = head.next
	}
	head.next = e.next
}
