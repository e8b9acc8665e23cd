/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import "slices"

// familyKey is everything of a block's identity but its size and its hash.
type familyKey struct {
	tenant, model, scheme, adapter string
}

// family holds one directory per block size that its engines really use.
type family struct {
	key         familyKey
	directories map[uint32]*directory
}

// residency says that a unit has a block, in the tiers and certainties of mask.
type residency struct {
	unit   uint32
	mask   uint16
	salted bool
}

// block is one node of a chain. It exists while any unit has it.
type block struct {
	hash      uint64
	parent    uint64
	depth     uint32
	hasParent bool
	// residencies are sorted by unit.
	residencies []residency
}

// unit is one group of one holder in one directory. Its number is unique there
// and is reused after the unit has gone.
type unit struct {
	number  uint32
	group   uint32
	holding *holding
}

// directory finds blocks of one size by their hash. Blocks live in a slab, so
// that a directory of millions of blocks has few objects for the collector.
type directory struct {
	family    *family
	blockSize uint32
	byHash    map[uint64]uint32
	slab      []block
	freeSlots []uint32
	units     []*unit
	freeUnits []uint32
	// partial counts the units whose reuse needs other blocks than a prefix.
	partial int
}

func newDirectory(f *family, blockSize uint32) *directory {
	return &directory{family: f, blockSize: blockSize, byHash: map[uint64]uint32{}}
}

// find returns the block with a hash, or nil. The pointer is valid until the next change.
func (d *directory) find(hash uint64) *block {
	slot, ok := d.byHash[hash]
	if !ok {
		return nil
	}
	return &d.slab[slot]
}

// add returns the block with a hash, made when it was not there.
func (d *directory) add(hash, parent uint64, hasParent bool, depth uint32) *block {
	if slot, ok := d.byHash[hash]; ok {
		return &d.slab[slot]
	}
	var slot uint32
	if n := len(d.freeSlots); n > 0 {
		slot, d.freeSlots = d.freeSlots[n-1], d.freeSlots[:n-1]
	} else {
		slot = uint32(len(d.slab))
		d.slab = append(d.slab, block{})
	}
	b := &d.slab[slot]
	*b = block{hash: hash, parent: parent, depth: depth, hasParent: hasParent, residencies: b.residencies[:0]}
	d.byHash[hash] = slot
	return b
}

// drop forgets a block that no unit has any more.
func (d *directory) drop(b *block) {
	slot := d.byHash[b.hash]
	delete(d.byHash, b.hash)
	d.freeSlots = append(d.freeSlots, slot)
}

// addUnit gives a group of a holding its number.
func (d *directory) addUnit(h *holding, group Group) *unit {
	u := &unit{group: group.Index, holding: h}
	if n := len(d.freeUnits); n > 0 {
		u.number, d.freeUnits = d.freeUnits[n-1], d.freeUnits[:n-1]
		d.units[u.number] = u
	} else {
		u.number = uint32(len(d.units))
		d.units = append(d.units, u)
	}
	return u
}

// dropUnit frees the number of a unit that has no block left.
func (d *directory) dropUnit(u *unit) {
	d.units[u.number] = nil
	d.freeUnits = append(d.freeUnits, u.number)
}

// position finds a unit's residency in a block.
func (b *block) position(unit uint32) (int, bool) {
	return slices.BinarySearchFunc(b.residencies, unit, func(r residency, u uint32) int {
		return int(int64(r.unit) - int64(u))
	})
}

// mask returns what a unit has of the block, 0 for nothing.
func (b *block) mask(unit uint32) uint16 {
	if i, ok := b.position(unit); ok {
		return b.residencies[i].mask
	}
	return 0
}
