/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import "time"

// holding is everything that one holder has: the state of its session, or the
// part of a snapshot that has arrived so far.
type holding struct {
	session  *Session
	declared *declarations
	// plans are what the declared groups demand, by index.
	plans publishedList[plan]
	units map[unitKey]*unit
	// byDirectory has the units of each directory, for what a block means to
	// the holder as a whole.
	byDirectory map[*directory]*shelf
	// blocks counts distinct blocks by tier; a block in two groups counts once.
	blocks [3]int64
	// prefixes counts distinct blocks in any tier.
	prefixes   int64
	inferred   inferredBlocks
	confidence Confidence
	// forgotten counts blocks that the index did not keep.
	forgotten int64
}

// unsure reports whether the holder has blocks that the index does not know.
func (h *holding) unsure() bool { return h.confidence.unsure() || h.forgotten > 0 }

type unitKey struct {
	directory *directory
	group     uint32
}

// shelf is what a holding has in one directory.
type shelf struct {
	units []*unit
	// blocks counts the blocks with a known tier, salted those of them whose
	// chain starts from a salt.
	blocks, salted int64
}

// gone reports whether a shelf is no longer part of what its holder has.
func (s *shelf) gone() bool {
	h := s.units[0].holding
	return h.session.current.Load() != h
}

func newHolding(s *Session) *holding {
	return &holding{
		session: s, declared: newDeclarations(),
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
	h.units[key] = u
	s, ok := h.byDirectory[d]
	if !ok {
		s = &shelf{}
		h.byDirectory[d] = s
	}
	s.units = append(s.units, u)
	return u
}

// regroup looks again whether each unit is the only group of the holder.
func (h *holding) regroup() {
	for key, u := range h.units {
		key.directory.regroup(u)
	}
}

// show makes a holding that came as a snapshot visible.
func (h *holding) show() {
	for key, u := range h.units {
		key.directory.show(u)
	}
}

// mask is what the holder has of a block over all groups.
func (s *shelf) mask(d *directory, p place) uint16 {
	r := d.run(p.run)
	var mask uint16
	for _, u := range s.units {
		mask |= d.mask(r, u.number, p.offset)
	}
	return mask
}

// tierBits folds the certainties of a residency that say where a block is.
func tierBits(mask uint16) uint16 {
	return (mask | mask>>3) & announcedMask
}

// count keeps the counters when the holder's mask of n blocks changes.
func (h *holding) count(s *shelf, n int64, before, after uint16, salted bool) {
	was, is := tierBits(before), tierBits(after)
	for t := range h.blocks {
		h.blocks[t] += n * (int64(is>>t&1) - int64(was>>t&1))
	}
	if (was != 0) == (is != 0) {
		return
	}
	if is == 0 {
		n = -n
	}
	h.prefixes += n
	s.blocks += n
	if salted {
		s.salted += n
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
		entry.directory.remove(entry.unit, entry.hash, entry.bit)
	}
}
