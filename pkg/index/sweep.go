/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

// sweep is the state of clearing up behind retired units. Their intervals are
// taken out run by run, in the order of the hashes; a number is free again when a
// pass that began after its unit retired has come to the end.
type sweep struct {
	// retired since the pass began, and the numbers that the pass is for.
	retired, clearing []uint32
	// cursor is the hash at which the pass goes on.
	cursor  uint64
	running bool
}

// pending reports whether anything is left to clear up.
func (s *sweep) pending() bool { return s.running || len(s.retired) > 0 }

// sweepSome clears up in one segment of the table, and reports whether it did anything.
func (d *directory) sweepSome(scratch []uint32) (more bool, runs []uint32) {
	s := &d.sweep
	if !s.running {
		if len(s.retired) == 0 {
			return false, scratch
		}
		s.clearing, s.retired = s.retired, nil
		s.cursor, s.running = 0, true
	}
	segment, last := d.table.next(s.cursor)
	runs = scratch[:0]
	for _, slot := range segment.slots {
		if slot != 0 && uint16(slot) == 0 {
			runs = append(runs, placeOf(slot).run)
		}
	}
	for _, number := range runs {
		d.clear(number)
	}
	if last == ^uint64(0) {
		d.freeUnits = append(d.freeUnits, s.clearing...)
		s.clearing, s.running = nil, false
		return s.pending(), runs
	}
	s.cursor = last + 1
	return true, runs
}

// clear takes out the intervals of units that are no more.
func (d *directory) clear(number uint32) {
	r := d.run(number)
	if r.length() == 0 {
		return
	}
	list := d.list(r.load())
	kept := d.pieces[:0]
	for _, iv := range list {
		if unitOf(iv) == kids || d.unit(unitOf(iv)) != nil {
			kept = append(kept, iv)
		}
	}
	if len(kept) < len(list) {
		d.changes.Add(1)
		d.splice(r, 0, len(list), kept)
		d.truncate(number)
		d.changes.Add(1)
	}
	d.pieces = kept[:0]
}
