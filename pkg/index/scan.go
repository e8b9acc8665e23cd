/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import "sync"

// run is how far the unbroken prefix of one unit reaches.
type run struct {
	// depth in blocks, counting announced blocks, also inferred ones, also possible ones.
	depth [3]int
	// warm counts the leading blocks that lie in T1, and in T2 or nearer.
	warm [2]int
}

// scratch is the working memory of one lookup.
type scratch struct {
	lengths map[*directory]int
	runs    map[*directory][]run
	// partial has a mask per position of the units that may skip blocks.
	partial map[*unit][]uint16
	touched map[*session]struct{}
}

var scratches = sync.Pool{New: func() any {
	return &scratch{
		lengths: map[*directory]int{}, runs: map[*directory][]run{},
		partial: map[*unit][]uint16{}, touched: map[*session]struct{}{},
	}
}}

func (sc *scratch) release() {
	clear(sc.lengths)
	clear(sc.runs)
	clear(sc.partial)
	clear(sc.touched)
	scratches.Put(sc)
}

// scan walks a chain once. In a directory where every group needs a whole prefix
// it ends with the longest of them.
func (sc *scratch) scan(d *directory, hashes []uint64) {
	sc.lengths[d] = len(hashes)
	runs := make([]run, len(d.units))
	sc.runs[d] = runs
	for i, hash := range hashes {
		b := d.find(hash)
		alive := false
		if b != nil {
			for _, r := range b.residencies {
				u := d.units[r.unit]
				if u.holding.staged {
					continue
				}
				if d.partial > 0 {
					sc.note(u, i, len(hashes), r.mask)
				}
				if runs[r.unit].extend(i, r.mask) {
					alive = true
					if i == 0 {
						sc.touched[u.holding.session] = struct{}{}
					}
				}
			}
		}
		if !alive && d.partial == 0 {
			return
		}
	}
}

// extend takes the block at position i into the run, if it continues it.
func (r *run) extend(i int, mask uint16) bool {
	if r.depth[2] != i {
		return false
	}
	r.depth[2]++
	if mask&possibleMask == mask {
		return true
	}
	if r.depth[1] == i {
		r.depth[1]++
		tier := bestTier(mask)
		if tier == T1 && r.warm[0] == i {
			r.warm[0]++
		}
		if tier <= T2 && r.warm[1] == i {
			r.warm[1]++
		}
	}
	if mask&announcedMask != 0 && r.depth[0] == i {
		r.depth[0]++
	}
	return true
}

// note remembers what a unit has at a position, for rules that look at single blocks.
func (sc *scratch) note(u *unit, i, length int, mask uint16) {
	masks, ok := sc.partial[u]
	if !ok {
		masks = make([]uint16, length)
		sc.partial[u] = masks
		sc.touched[u.holding.session] = struct{}{}
	}
	masks[i] = mask
}

// run returns the run of a unit; a unit that does not exist has none.
func (sc *scratch) run(d *directory, u *unit) *run {
	if u == nil {
		return &run{}
	}
	return &sc.runs[d][u.number]
}

// masks returns the masks of a unit by position; a unit that was never met has
// nothing anywhere.
func (sc *scratch) masks(u *unit, length int) []uint16 {
	if masks, ok := sc.partial[u]; ok {
		return masks
	}
	return make([]uint16, length)
}
