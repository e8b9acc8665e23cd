/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"slices"
	"sync"
)

// reach is how far the unbroken prefix of one unit goes.
type reach struct {
	// depth in blocks, counting announced blocks, also inferred ones, also possible ones.
	depth [3]int
	// warm counts the leading blocks that lie in T1, and in T2 or nearer.
	warm [2]int
}

// scratch is the working memory of one lookup.
type scratch struct {
	lengths map[*directory]int
	reaches map[*directory][]reach
	// partial has a mask per position of the units that may skip blocks.
	partial map[*unit][]uint16
	// touched are the holders with several groups that have something of the
	// chain, single the others.
	touched map[*Session]struct{}
	single  []single
	path    []place
}

// single is a unit whose holder has no other group, with its reach.
type single struct {
	unit  *unit
	reach *reach
}

var scratches = sync.Pool{New: func() any {
	return &scratch{
		lengths: map[*directory]int{}, reaches: map[*directory][]reach{},
		partial: map[*unit][]uint16{}, touched: map[*Session]struct{}{},
	}
}}

func (sc *scratch) release() {
	clear(sc.lengths)
	clear(sc.reaches)
	clear(sc.partial)
	clear(sc.touched)
	clear(sc.single)
	sc.single = sc.single[:0]
	scratches.Put(sc)
}

// scan finds out what every unit of a directory has of a chain.
func (sc *scratch) scan(d *directory, hashes []uint64) {
	sc.lengths[d] = len(hashes)
	sc.reaches[d] = make([]reach, len(d.units))
	if d.partial > 0 || !sc.descend(d, hashes) {
		sc.walk(d, hashes)
	}
}

// descend finds the deepest known block by bisection, climbs to the start of its
// chain, and reads who holds the runs on the way. That is right because a block
// stays while anything continues it, so that the known blocks of a chain are an
// unbroken prefix of it. It reports false when what it finds is not this chain,
// which a reporter can cause by a false parent.
func (sc *scratch) descend(d *directory, hashes []uint64) bool {
	deepest, found := deepest(d, hashes)
	if !found {
		return true
	}
	sc.path = d.path(deepest, sc.path[:0])
	for _, step := range sc.path {
		r := d.run(step.run)
		if int(r.depth) >= len(hashes) || d.hashes(r)[0] != hashes[r.depth] {
			return false
		}
	}
	for _, step := range slices.Backward(sc.path) {
		r := d.run(step.run)
		sc.read(d, r, 0, step.offset+1, int(r.depth), 0)
	}
	return true
}

// deepest bisects for the last block of a chain that is known. A conversation's
// new turn misses near the end, so the search starts there.
func deepest(d *directory, hashes []uint64) (place, bool) {
	probe := func(i int) (place, bool) {
		p, found := d.table.find(hashes[i])
		if !found {
			return p, false
		}
		r := d.run(p.run)
		return p, int(r.depth)+int(p.offset) == i && d.isAnchored(p.run)
	}
	known, unknown := -1, len(hashes)
	var best place
	for step := 1; known < 0 && unknown > 0; step *= 4 {
		i := max(0, unknown-step)
		if p, ok := probe(i); ok {
			known, best = i, p
		} else {
			unknown = i
		}
	}
	for unknown-known > 1 && known >= 0 {
		middle := (known + unknown) / 2
		if p, ok := probe(middle); ok {
			known, best = middle, p
		} else {
			unknown = middle
		}
	}
	return best, known >= 0
}

// walk looks at every position. Rules that may skip blocks need it.
func (sc *scratch) walk(d *directory, hashes []uint64) {
	clear(sc.reaches[d])
	for i := 0; i < len(hashes); {
		p, found := d.table.find(hashes[i])
		if !found {
			i++
			continue
		}
		n := d.follow(p, hashes[i:])
		sc.read(d, d.run(p.run), p.offset, p.offset+uint16(n), i, len(hashes))
		i += n
	}
}

// read takes the blocks from start to end−1 of a run, the first of which has the
// given position in the prompt. For a prompt of a length it also notes what units
// with gaps have.
func (sc *scratch) read(d *directory, r *run, start, end uint16, position, length int) {
	reaches := sc.reaches[d]
	for _, iv := range d.list(r) {
		from, to := max(iv.start, start), min(iv.end, end)
		if iv.unit == kids || from >= to || !d.visible[iv.unit] {
			continue
		}
		first, mask := position+int(from-start), uint16(iv.mask)
		alone := d.single[iv.unit]
		if length > 0 && !alone {
			sc.note(d.units[iv.unit], first, int(to-from), length, mask)
		}
		if !reaches[iv.unit].extend(first, first+int(to-from), mask) || first > 0 {
			continue
		}
		if alone {
			sc.single = append(sc.single, single{d.units[iv.unit], &reaches[iv.unit]})
		} else {
			sc.touched[d.units[iv.unit].holding.session] = struct{}{}
		}
	}
}

// extend takes the blocks from position first to end−1, if they continue the reach.
func (r *reach) extend(first, end int, mask uint16) bool {
	if r.depth[2] != first {
		return false
	}
	r.depth[2] = end
	if mask&possibleMask == mask {
		return true
	}
	if r.depth[1] == first {
		r.depth[1] = end
		tier := bestTier(mask)
		if tier == T1 && r.warm[0] == first {
			r.warm[0] = end
		}
		if tier <= T2 && r.warm[1] == first {
			r.warm[1] = end
		}
	}
	if mask&announcedMask != 0 && r.depth[0] == first {
		r.depth[0] = end
	}
	return true
}

// note remembers what a unit has at some positions, for rules that look at single blocks.
func (sc *scratch) note(u *unit, first, n, length int, mask uint16) {
	masks, ok := sc.partial[u]
	if !ok {
		masks = make([]uint16, length)
		sc.partial[u] = masks
		sc.touched[u.holding.session] = struct{}{}
	}
	for i := range n {
		masks[first+i] = mask
	}
}

// reach returns that of a unit; a unit that does not exist has none.
func (sc *scratch) reach(d *directory, u *unit) *reach {
	if u == nil {
		return &reach{}
	}
	return &sc.reaches[d][u.number]
}

// masks returns the masks of a unit by position; a unit that was never met has
// nothing anywhere.
func (sc *scratch) masks(u *unit, length int) []uint16 {
	if masks, ok := sc.partial[u]; ok {
		return masks
	}
	return make([]uint16, length)
}
