/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

// edit is a change of one unit's intervals in one run: the bits of mask go on or
// off for the blocks from start to end−1.
type edit struct {
	unit       uint32
	start, end uint16
	mask       uint16
	on         bool
}

// apply returns what the edit makes of a mask.
func (e *edit) apply(mask uint16) uint16 {
	if e.on {
		return mask | e.mask
	}
	return mask &^ e.mask
}

// edit changes the intervals of a unit and calls changed for every part whose
// mask is another one now.
func (a *arena) edit(r *run, e edit, changed func(start, end, before, after uint16)) {
	list := a.list(r)
	low, high := of(list, e.unit)
	pieces := a.pieces[:0]
	emit := func(start, end, mask uint16) {
		if start >= end || mask == 0 {
			return
		}
		if n := len(pieces); n > 0 && pieces[n-1].end == start && pieces[n-1].mask == uint32(mask) {
			pieces[n-1].end = end
			return
		}
		pieces = append(pieces, interval{unit: e.unit, mask: uint32(mask), start: start, end: end})
	}
	alter := func(start, end, mask uint16) {
		after := e.apply(mask)
		if start < end && after != mask {
			changed(start, end, mask, after)
		}
		emit(start, end, after)
	}
	// at is how far the edited part has been dealt with.
	at := e.start
	for _, iv := range list[low:high] {
		mask := uint16(iv.mask)
		emit(iv.start, min(iv.end, e.start), mask)
		start, end := max(iv.start, e.start), min(iv.end, e.end)
		if start < end {
			alter(at, start, 0)
			alter(start, end, mask)
			at = end
		}
		if iv.end > e.end {
			alter(at, e.end, 0)
			at = e.end
			emit(max(iv.start, e.end), iv.end, mask)
		}
	}
	alter(at, e.end, 0)
	a.splice(r, low, high, pieces)
	a.pieces = pieces[:0]
}

// countKids changes the number of runs that continue a block.
func (a *arena) countKids(r *run, offset uint16, by int) {
	list := a.list(r)
	low, high := of(list, kids)
	for i := low; i < high; i++ {
		switch {
		case list[i].start == offset:
			if list[i].mask = uint32(int(list[i].mask) + by); list[i].mask == 0 {
				a.splice(r, i, i+1, nil)
			}
			return
		case list[i].start > offset:
			high = i
		}
	}
	a.splice(r, high, high, []interval{{unit: kids, mask: uint32(by), start: offset, end: offset + 1}})
}
