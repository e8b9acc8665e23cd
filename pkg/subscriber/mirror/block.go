/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import "inferencecache.io/inference-cache/pkg/fingerprint"

// block is the record of one content, of one engine hash, or of both: of most
// contents the engine has exactly one name. It holds no pointers, so that millions
// of them cost the garbage collector nothing, and it has no room for what is rare:
// that is in the maps of [Mirror], under the number of the block.
//
// A block has up to two roles. A named block is what an engine hash stands for and
// is found by it. A primary block is where a content is found; it keeps what has
// been reported of the content. A second hash of the same content has a block that
// is named only, a content that no hash stands for one that is primary only. What
// is neither stays for as long as the blocks after it need to know their parent.
type block struct {
	hashLow, hashHigh       uint32
	contentLow, contentHigh uint32
	// parent is the block before, or none. See parentOf.
	parent uint32
	// place has the depth in its upper 24 bits, then the number of blocks whose
	// parent this one is, and roles.
	place uint32
	// home has the scope in its lower 12 bits, and marks.
	home uint16
	// held are the lanes in which copies exist, told those in which the content
	// has been reported with the certainty that is usual in its scope. Special
	// contents keep the latter elsewhere.
	held, told uint8
}

// none is the number of no block.
const none = 0

// Parts of block.place.
const (
	isNamed   = 1 << 0
	isPrimary = 1 << 1
	// isPlaced: the content is known.
	isPlaced = 1 << 2

	childShift = 3
	childMask  = 31
	depthShift = 8
)

// Parts of block.home.
const (
	scopeMask = 1<<12 - 1
	// isSpecial: the content has a node.
	isSpecial = 1 << 12
	// isCrowded: copies of the block are counted in Mirror.many.
	isCrowded = 1 << 13
	// isQueued: the block is in the queue of ghosts. isUsed: it was needed since it
	// got there.
	isQueued = 1 << 14
	isUsed   = 1 << 15
)

// Bounds that follow from the widths of the fields.
const (
	// maxScopes is the number of scopes that a block can name.
	maxScopes = scopeMask + 1
	// inlineLanes is the number of lanes that a block has bits for.
	inlineLanes = 8
)

func (b *block) hash() uint64    { return uint64(b.hashHigh)<<32 | uint64(b.hashLow) }
func (b *block) content() uint64 { return uint64(b.contentHigh)<<32 | uint64(b.contentLow) }
func (b *block) depth() uint32   { return b.place >> depthShift }
func (b *block) scope() uint32   { return uint32(b.home & scopeMask) }
func (b *block) named() bool     { return b.place&isNamed != 0 }
func (b *block) primary() bool   { return b.place&isPrimary != 0 }
func (b *block) placed() bool    { return b.place&isPlaced != 0 }
func (b *block) special() bool   { return b.home&isSpecial != 0 }
func (b *block) crowded() bool   { return b.home&isCrowded != 0 }

func (b *block) setHash(hash uint64) {
	b.hashLow, b.hashHigh = uint32(hash), uint32(hash>>32)
}

func (b *block) setContent(content uint64) {
	b.contentLow, b.contentHigh = uint32(content), uint32(content>>32)
}

// slab holds blocks by number, from 1 on. Blocks never move.
type slab struct {
	chunks []*[chunkBlocks]block
	// next is the first number that was never used, free the head of a list of
	// those that are free again, linked by parent.
	next, free uint32
}

// The size of a chunk is a trade: one is reserved ahead of its use.
const (
	chunkBits   = 12
	chunkBlocks = 1 << chunkBits
)

func (s *slab) at(i uint32) *block {
	return &s.chunks[i>>chunkBits][i%chunkBlocks]
}

// alloc returns the number of a block that is all zero.
func (s *slab) alloc() uint32 {
	if i := s.free; i != none {
		b := s.at(i)
		s.free = b.parent
		b.parent = none
		return i
	}
	if s.next == none {
		s.next = 1
	}
	if int(s.next>>chunkBits) == len(s.chunks) {
		s.chunks = append(s.chunks, new([chunkBlocks]block))
	}
	s.next++
	return s.next - 1
}

// spare is how many numbers are kept for hashes that change their content.
const spare = 1 << 20

// full reports whether there are not so many numbers left.
func (s *slab) full(blocks int) bool {
	return s.free == none && int(s.next)+blocks > 1<<numberBits-spare
}

func (s *slab) release(i uint32) {
	*s.at(i) = block{parent: s.free}
	s.free = i
}

// setPlace gives a block its content and its place behind another one.
func (m *Mirror) setPlace(i, scope uint32, at position) {
	b := m.at(i)
	b.setContent(at.content)
	b.home = b.home&^scopeMask | uint16(scope)
	b.place = b.place&(1<<depthShift-1) | at.depth<<depthShift | isPlaced
	if at.depth == 0 {
		return
	}
	from := at.from
	if from == none || !m.isContent(from, scope, at.parent.Hash) {
		from = m.findContent(scope, at.parent.Hash)
	}
	if from == none || from == i {
		m.parents[i] = at.parent.Hash
		return
	}
	b.parent = from
	m.adoptChild(from)
}

// isContent reports whether a block stands for a content.
func (m *Mirror) isContent(i, scope uint32, content uint64) bool {
	b := m.at(i)
	return b.placed() && b.content() == content && b.scope() == scope
}

// parentOf returns the content before a block; it is not present at the start of a
// chain. The block of a parent is kept as long as it has children. A parent that
// never had a block is in Mirror.parents.
func (m *Mirror) parentOf(i uint32, b *block) fingerprint.Parent {
	switch {
	case b.parent != none:
		return fingerprint.Parent{Hash: m.at(b.parent).content(), Present: true}
	case b.depth() > 0:
		return fingerprint.Parent{Hash: m.parents[i], Present: true}
	}
	return fingerprint.Parent{}
}

// adoptChild counts one more block after a block. More than fit into the record
// are counted in Mirror.families.
func (m *Mirror) adoptChild(i uint32) {
	b := m.at(i)
	if b.place>>childShift&childMask == childMask {
		m.families[i]++
		return
	}
	b.place += 1 << childShift
}

// orphanChild counts one block less, and forgets a block that was kept for its
// children only.
func (m *Mirror) orphanChild(i uint32) {
	b := m.at(i)
	if more, ok := m.families[i]; ok {
		if more == 1 {
			delete(m.families, i)
		} else {
			m.families[i] = more - 1
		}
		return
	}
	b.place -= 1 << childShift
	if b.place&(childMask<<childShift|isNamed|isPrimary) == 0 {
		m.blocks.release(i)
	}
}

// retireBlock forgets a block without a role, or what is not needed of it by the
// blocks after it.
func (m *Mirror) retireBlock(i uint32) {
	b := m.at(i)
	if b.parent != none {
		parent := b.parent
		b.parent = none
		m.orphanChild(parent)
	} else if b.placed() && b.depth() > 0 {
		delete(m.parents, i)
	}
	if b.place>>childShift&childMask == 0 {
		m.blocks.release(i)
	}
}

func (m *Mirror) at(i uint32) *block { return m.blocks.at(i) }
