/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"time"

	"github.com/tidwall/btree"
)

// holding is everything that one holder has: the state of its session, or the
// part of a snapshot that has arrived so far.
type holding struct {
	session *session
	// staged holdings are invisible to every reader.
	staged   bool
	declared *declarations
	units    map[unitKey]*unit
	// byDirectory has the units of each directory, for what a block means to
	// the holder as a whole.
	byDirectory map[*directory]*shelf
	// blocks counts distinct blocks by tier; a block in two groups counts once.
	blocks [3]int64
	// prefixes counts distinct blocks in any tier.
	prefixes   int64
	inferred   inferredBlocks
	confidence Confidence
}

type unitKey struct {
	directory *directory
	group     uint32
}

// shelf is what a holding has in one directory.
type shelf struct {
	units []*unit
	// hashes are the blocks of the holder, in order, for listing.
	hashes btree.Set[uint64]
	// blocks counts the blocks with a known tier, salted those of them whose
	// chain starts from a salt.
	blocks, salted int64
}

func newHolding(s *session, staged bool) *holding {
	return &holding{
		session: s, staged: staged, declared: newDeclarations(),
		units: map[unitKey]*unit{}, byDirectory: map[*directory]*shelf{},
	}
}

// unit returns the unit of a group in a directory, made on first use.
func (h *holding) unit(d *directory, group Group) *unit {
	key := unitKey{d, group.Index}
	if u, ok := h.units[key]; ok {
		return u
	}
	u := d.addUnit(h, group)
	if group.Kind != FullGroup {
		d.partial++
	}
	h.units[key] = u
	s := h.shelf(d)
	s.units = append(s.units, u)
	return u
}

func (h *holding) shelf(d *directory) *shelf {
	s, ok := h.byDirectory[d]
	if !ok {
		s = &shelf{}
		h.byDirectory[d] = s
	}
	return s
}

// set puts a bit on a block's residency, or takes it away, and keeps the counts.
func (h *holding) set(d *directory, u *unit, b *block, bit uint16, on, salted bool) {
	s := h.byDirectory[d]
	before := s.mask(b)
	i, found := b.position(u.number)
	switch {
	case on && found:
		b.residencies[i].mask |= bit
	case on:
		b.residencies = append(b.residencies, residency{})
		copy(b.residencies[i+1:], b.residencies[i:])
		b.residencies[i] = residency{unit: u.number, mask: bit, salted: salted}
	case found:
		salted = b.residencies[i].salted
		if b.residencies[i].mask &^= bit; b.residencies[i].mask == 0 {
			b.residencies = append(b.residencies[:i], b.residencies[i+1:]...)
		}
	}
	h.count(s, b.hash, before, s.mask(b), salted)
	if len(b.residencies) == 0 {
		d.drop(b)
	}
}

// mask is what the holder has of a block over all groups.
func (s *shelf) mask(b *block) uint16 {
	var mask uint16
	for _, u := range s.units {
		mask |= b.mask(u.number)
	}
	return mask
}

// tierBits folds the certainties of a residency that say where a block is.
func tierBits(mask uint16) uint16 {
	return (mask | mask>>3) & announcedMask
}

// count keeps the counters when the holder's mask of a block changes.
func (h *holding) count(s *shelf, hash uint64, before, after uint16, salted bool) {
	switch {
	case before == 0 && after != 0:
		s.hashes.Insert(hash)
	case before != 0 && after == 0:
		s.hashes.Delete(hash)
	}
	was, is := tierBits(before), tierBits(after)
	for t := range h.blocks {
		h.blocks[t] += int64(is>>t&1) - int64(was>>t&1)
	}
	if (was != 0) == (is != 0) {
		return
	}
	step := int64(1)
	if is == 0 {
		step = -1
	}
	h.prefixes += step
	s.blocks += step
	if salted {
		s.salted += step
	}
}

// expireInferred takes out the inferred blocks whose time is over.
func (h *holding) expireInferred(now time.Time) bool {
	expired := false
	for {
		entry, ok := h.inferred.next(now)
		if !ok {
			return expired
		}
		expired = true
		if b := entry.directory.find(entry.hash); b != nil {
			h.set(entry.directory, entry.unit, b, entry.bit, false, false)
		}
	}
}
