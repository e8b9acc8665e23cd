/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

// familyKey is everything of a block's identity but its size and its hash.
type familyKey struct {
	tenant, model, scheme, adapter string
}

// family holds one directory per block size that its engines really use.
type family struct {
	key         familyKey
	directories map[uint32]*directory
}

// unit is one group of one holder in one directory.
type unit struct {
	number  uint32
	group   Group
	holding *holding
}

// directory has the blocks of one size.
type directory struct {
	*arena
	family    *family
	blockSize uint32
	table     table
	// waiting are runs whose parent is not in the table, by its hash.
	waiting map[uint64][]uint32
	// units by number. A number that is not visible has no unit, or one of a
	// snapshot that is still coming in.
	units   []*unit
	visible []bool
	// single units are full groups of holders that have no other group.
	single []bool
	// partial counts the units whose reuse needs other blocks than a prefix.
	partial   int
	freeUnits []uint32
	sweep     sweep
}

func newDirectory(f *family, blockSize uint32, a *arena, secret uint64) *directory {
	return &directory{arena: a, family: f, blockSize: blockSize, table: newTable(a, secret), waiting: map[uint64][]uint32{}}
}

// addUnit gives a group of a holding its number.
func (d *directory) addUnit(h *holding, group Group) *unit {
	u := &unit{group: group, holding: h}
	if n := len(d.freeUnits); n > 0 {
		u.number, d.freeUnits = d.freeUnits[n-1], d.freeUnits[:n-1]
	} else {
		u.number = uint32(len(d.units))
		d.units, d.visible, d.single = append(d.units, nil), append(d.visible, false), append(d.single, false)
	}
	d.units[u.number], d.visible[u.number] = u, !h.staged
	d.single[u.number] = group.Kind == FullGroup && len(h.declared.groups) == 1
	if group.Kind != FullGroup {
		d.partial++
	}
	return u
}

// retire ends a unit at once for every reader. What it had is swept later.
func (d *directory) retire(u *unit) {
	d.units[u.number], d.visible[u.number] = nil, false
	if u.group.Kind != FullGroup {
		d.partial--
	}
	d.sweep.retired = append(d.sweep.retired, u.number)
}

// store adds consecutive blocks of a chain to a unit.
func (d *directory) store(u *unit, c *Change, salted bool) {
	at, known := place{}, false
	if c.HasParent {
		at, known = d.table.find(c.Parent)
	}
	parent := c.Parent
	for i := 0; i < len(c.Hashes); {
		p, found := d.table.find(c.Hashes[i])
		n := 0
		if found {
			n = d.follow(p, c.Hashes[i:])
		} else {
			p, n = d.grow(at, known, parent, c, i, salted)
		}
		d.set(u, p.run, edit{start: p.offset, end: p.offset + uint16(n), mask: c.mask(), on: true})
		i += n
		at, known, parent = place{p.run, p.offset + uint16(n) - 1}, true, c.Hashes[i-1]
	}
}

// follow returns how many hashes the run has from a place on.
func (d *directory) follow(p place, hashes []uint64) int {
	have := d.hashes(d.run(p.run))[p.offset:]
	n := 0
	for n < len(hashes) && n < len(have) && have[n] == hashes[n] {
		n++
	}
	return n
}

// grow adds blocks that are not there, from the i-th of a change to the next one
// that is, as far as one run has room. It extends the run of the parent where
// that ends there, and begins one elsewhere.
func (d *directory) grow(at place, known bool, parent uint64, c *Change, i int, salted bool) (place, int) {
	number := at.run
	if !known || int(at.offset)+1 != int(d.run(at.run).length) || d.run(at.run).length == maxRun {
		number = d.begin(at, known, parent, c, i)
		d.run(number).salted = salted
	}
	r := d.run(number)
	first := r.length
	n := 0
	for ; i+n < len(c.Hashes) && r.length < maxRun; n++ {
		hash := c.Hashes[i+n]
		if n > 0 {
			if _, found := d.table.find(hash); found {
				break
			}
		}
		d.push(r, hash, len(c.Hashes)-i-n-1)
		p := place{number, r.length - 1}
		d.table.insert(hash, p)
		if len(d.waiting) > 0 {
			d.adopt(hash, p)
		}
	}
	return place{number, first}, n
}

// begin makes a run behind a place, or one that waits for its parent.
func (d *directory) begin(at place, known bool, parent uint64, c *Change, i int) uint32 {
	number := d.newRun(len(c.Hashes) - i)
	r := d.run(number)
	r.parentHash, r.depth = parent, c.Depth+uint32(i)
	switch {
	case r.depth == 0:
		r.anchored = true
	case known:
		d.link(number, at)
	default:
		d.waiting[parent] = append(d.waiting[parent], number)
	}
	return number
}

// link makes a run the continuation of a place.
func (d *directory) link(number uint32, at place) {
	r, parent := d.run(number), d.run(at.run)
	r.parent, r.parentOffset = at.run, at.offset
	r.depth = parent.depth + uint32(at.offset) + 1
	r.anchored = d.isAnchored(at.run)
	d.countKids(parent, at.offset, 1)
}

// adopt links the runs that waited for a block. One that says to lie elsewhere
// goes on waiting: it is never reached from a chain's start.
func (d *directory) adopt(hash uint64, at place) {
	waiting, ok := d.waiting[hash]
	if !ok {
		return
	}
	depth := d.run(at.run).depth + uint32(at.offset) + 1
	var left []uint32
	for _, number := range waiting {
		if d.run(number).depth == depth && !d.descends(at.run, number) {
			d.link(number, at)
		} else {
			left = append(left, number)
		}
	}
	if len(left) > 0 {
		d.waiting[hash] = left
	} else {
		delete(d.waiting, hash)
	}
}

// descends reports whether a run continues another one, however far.
func (d *directory) descends(number, from uint32) bool {
	for number != noRun {
		if number == from {
			return true
		}
		number = d.run(number).parent
	}
	return false
}

// isAnchored reports whether a run goes back to the start of its chain. A run
// that was linked before its parent was is found out by climbing.
func (d *directory) isAnchored(number uint32) bool {
	for number != noRun {
		r := d.run(number)
		if r.anchored {
			return true
		}
		number = r.parent
	}
	return false
}

// set changes what a unit has of a run, and the counts of its holding.
func (d *directory) set(u *unit, number uint32, e edit) {
	r := d.run(number)
	h := u.holding
	s := h.byDirectory[d]
	e.unit = u.number
	d.edit(r, e, func(start, end, before, after uint16) {
		if len(s.units) == 1 {
			h.count(s, int64(end-start), before, after, r.salted)
			return
		}
		for offset := start; offset < end; offset++ {
			others := uint16(0)
			for _, other := range s.units {
				if other != u {
					others |= d.mask(r, other.number, offset)
				}
			}
			h.count(s, 1, others|before, others|after, r.salted)
		}
	})
}

// remove takes bits of one block from a unit.
func (d *directory) remove(u *unit, hash uint64, mask uint16) {
	p, found := d.table.find(hash)
	if !found {
		return
	}
	d.set(u, p.run, edit{start: p.offset, end: p.offset + 1, mask: mask})
	if p.offset+1 == d.run(p.run).length {
		d.truncate(p.run)
	}
}

// truncate drops the blocks at the end of a run that nobody has and nothing
// continues; a run without blocks goes, and its parent may follow.
func (d *directory) truncate(number uint32) {
	for number != noRun {
		r := d.run(number)
		end := d.end(r)
		hashes := d.hashes(r)
		for offset := end; offset < r.length; offset++ {
			d.table.remove(hashes[offset], place{number, offset})
		}
		r.length = end
		if end > 0 {
			return
		}
		parent := r.parent
		if parent == noRun {
			d.forgetWaiting(number, r)
		} else {
			d.countKids(d.run(parent), r.parentOffset, -1)
		}
		d.freeRun(number)
		number = parent
	}
}

func (d *directory) forgetWaiting(number uint32, r *run) {
	if r.depth == 0 {
		return
	}
	waiting := d.waiting[r.parentHash]
	for i, other := range waiting {
		if other == number {
			waiting[i] = waiting[len(waiting)-1]
			waiting = waiting[:len(waiting)-1]
			break
		}
	}
	if len(waiting) == 0 {
		delete(d.waiting, r.parentHash)
		return
	}
	d.waiting[r.parentHash] = waiting
}
