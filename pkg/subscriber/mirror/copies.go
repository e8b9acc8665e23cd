/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import (
	"math"
	"math/bits"
)

// lane is a KV-cache group in a tier. Lanes are numbered as they appear.
type lane struct {
	group uint32
	tier  Tier
}

// lane returns the number of a group in a tier.
func (m *Mirror) lane(group uint32, tier Tier) uint8 {
	number := &m.laneNumbers[group][tier]
	if *number == 0 {
		m.lanes = append(m.lanes, lane{group, tier})
		*number = uint8(len(m.lanes))
	}
	return *number - 1
}

// laneRef names a lane of a block.
type laneRef struct {
	block uint32
	lane  uint8
}

// laneKey is the same in the form in which maps are fast.
type laneKey uint64

func keyOf(i uint32, l uint8) laneKey { return laneKey(i)<<8 | laneKey(l) }

func (k laneKey) ref() laneRef { return laneRef{uint32(k >> 8), uint8(k)} }

// copies is how often a block is resident in a lane, where one bit does not say it.
type copies struct {
	count int32
	// shrunk: a copy went and others stayed. Under the last-copy rule that removal
	// meant that nothing stays.
	shrunk bool
	// mixed: the hash had copies already when it got its content, so that some may be
	// of another one.
	mixed bool
}

// copiesOf returns the copies of a block in a lane.
func (m *Mirror) copiesOf(i uint32, b *block, l uint8) copies {
	if b.crowded() {
		if many, ok := m.many[keyOf(i, l)]; ok {
			return many
		}
	}
	return copies{count: int32(b.held >> l & 1)} // 0 for lanes without a bit
}

// putCopies replaces the copies of a block in a lane, and nothing else.
func (m *Mirror) putCopies(i uint32, b *block, l uint8, now copies) {
	key := keyOf(i, l)
	b.held &^= 1 << l
	if now.count > 0 {
		b.held |= 1 << l
	}
	switch {
	case now.count > 0 && (now.count > 1 || now.shrunk || now.mixed || l >= inlineLanes):
		m.many[key] = now
		b.home |= isCrowded
	case b.crowded():
		delete(m.many, key)
		if !m.anyCrowd(i) {
			b.home &^= isCrowded
		}
	}
}

// anyCrowd reports whether Mirror.many has anything about a block.
func (m *Mirror) anyCrowd(i uint32) bool {
	for l := range m.lanes {
		if _, ok := m.many[keyOf(i, uint8(l))]; ok {
			return true
		}
	}
	return false
}

// resident reports whether there is any copy of a block.
func (m *Mirror) resident(i uint32, b *block) bool {
	return b.held != 0 || b.crowded() && m.anyCrowd(i)
}

// heldLanes calls fn for the lanes in which a block has copies.
func (m *Mirror) heldLanes(i uint32, b *block, fn func(l uint8, c copies)) {
	for held := b.held; held != 0; held &= held - 1 {
		l := uint8(bits.TrailingZeros8(held))
		fn(l, m.copiesOf(i, b, l))
	}
	if !b.crowded() {
		return
	}
	for l := inlineLanes; l < len(m.lanes); l++ {
		if many, ok := m.many[keyOf(i, uint8(l))]; ok {
			fn(uint8(l), many)
		}
	}
}

// laneCopies are the copies in one lane.
type laneCopies struct {
	lane uint8
	copies
}

// takeCopies forgets all copies of a block and returns what they were.
func (m *Mirror) takeCopies(i uint32, b *block) []laneCopies {
	var taken []laneCopies
	m.heldLanes(i, b, func(l uint8, c copies) { taken = append(taken, laneCopies{l, c}) })
	m.dropCopies(i, b)
	return taken
}

// dropCopies forgets all copies of a block.
func (m *Mirror) dropCopies(i uint32, b *block) {
	b.held = 0
	if !b.crowded() {
		return
	}
	for l := range m.lanes {
		delete(m.many, keyOf(i, uint8(l)))
	}
	b.home &^= isCrowded
}

// addCopy counts one more copy of a block.
func (m *Mirror) addCopy(i uint32, l uint8) {
	b := m.at(i)
	was := m.copiesOf(i, b, l)
	if was.count == math.MaxInt32 {
		return
	}
	if m.lanes[l].tier == T1 {
		m.copies[m.lanes[l].group]++
	}
	now := was
	now.count++
	wasResident := m.resident(i, b)
	switch {
	case !b.placed():
		m.putCopies(i, b, l, now)
		if !wasResident {
			m.confidence.Unresolved++
		}
		return
	case was.count == 0 && l < inlineLanes && b.primary() && !b.special():
		b.held |= 1 << l
		m.touch(i, l)
	case was.count == 0 || m.opts.Engine == SGLang:
		n := m.nodeOf(i)
		m.putCopies(i, b, l, now)
		m.raise(n, l, b.hash(), 1)
	default:
		m.putCopies(i, b, l, now)
	}
	if !wasResident {
		m.ghosts.count--
	}
}

// setCopies changes the number of copies of a block that has some.
func (m *Mirror) setCopies(i uint32, l uint8, was copies, count int32) {
	b := m.at(i)
	gone := was.count - count
	now := was
	now.count, now.shrunk = count, was.shrunk || gone > 0
	if m.lanes[l].tier == T1 {
		m.copies[m.lanes[l].group] -= int64(gone)
	}
	switch {
	case !b.placed():
		m.putCopies(i, b, l, now)
		if !m.resident(i, b) {
			m.confidence.Unresolved--
			m.abandon(i)
		}
		return
	case b.primary() && !b.special() && count == 0:
		m.putCopies(i, b, l, now)
		m.touch(i, l)
	case m.opts.Engine == SGLang && gone != 0, count == 0:
		n := m.nodeOf(i)
		m.putCopies(i, b, l, now)
		switch {
		case m.opts.Engine != SGLang:
			m.lower(n, l, b.hash(), 1)
		case gone > 0:
			m.lower(n, l, b.hash(), gone)
		default:
			m.raise(n, l, b.hash(), -gone)
		}
	case was.mixed && gone > 0:
		n := m.nodeOf(i)
		m.putCopies(i, b, l, now)
		m.doubt(n, l, b.hash())
	default:
		m.putCopies(i, b, l, now)
	}
	if count == 0 && m.lanes[l].tier == T1 {
		m.infer(i, l)
	}
	if !m.resident(i, b) {
		m.ghosts.count++
		m.haunt(i, b)
	}
}
