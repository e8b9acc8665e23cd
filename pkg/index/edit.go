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
	list := a.list(r.load())
	low, high := touching(list, e.unit, e.start, e.end)
	pieces := a.pieces[:0]
	emit := func(start, end, mask uint16) {
		if start >= end || mask == 0 {
			return
		}
		if n := len(pieces); n > 0 && endOf(pieces[n-1]) == start && maskOf(pieces[n-1]) == mask {
			start = startOf(pieces[n-1])
			pieces = pieces[:n-1]
		}
		pieces = append(pieces, intervalOf(e.unit, start, end, mask))
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
		mask, first, last := maskOf(iv), startOf(iv), endOf(iv)
		emit(first, min(last, e.start), mask)
		start, end := max(first, e.start), min(last, e.end)
		if start < end {
			alter(at, start, 0)
			alter(start, end, mask)
			at = end
		}
		if last > e.end {
			alter(at, e.end, 0)
			at = e.end
			emit(max(first, e.end), last, mask)
		}
	}
	alter(at, e.end, 0)
	a.splice(r, low, high, pieces)
	a.pieces = pieces[:0]
}
