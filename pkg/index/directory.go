/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"slices"
	"sync/atomic"
)

// unit is one group of one holder in one directory.
type unit struct {
	number  uint32
	plan    plan
	session *Session
	holding *holding
	// groups is how many the holder has.
	groups atomic.Int32
}

// seat is where readers find a unit by its number.
type seat struct {
	// unit is nil when it has retired.
	unit atomic.Pointer[unit]
	// shown is the unit's session once the unit belongs to what its holder has now,
	// rather than to a snapshot on its way.
	shown atomic.Pointer[Session]
}

// directory has the blocks of one size.
type directory struct {
	*arena
	number    uint32
	family    *family
	blockSize uint32
	table     *table
	// changes is odd while blocks or holders change.
	changes atomic.Uint64
	// waiting are runs whose parent is not in the table, by its hash.
	waiting map[uint64]map[uint32]struct{}
	// adrift counts the runs in waiting.
	adrift atomic.Int64
	// seats of the units by number.
	seats atomic.Pointer[[]seat]
	// grouped counts the units that are not alone.
	grouped   atomic.Int64
	unitCount uint32
	freeUnits []uint32
	sweep     sweep
}

func newDirectory(x *Index, f *family, blockSize uint32) *directory {
	d := &directory{
		arena: &x.arena, family: f, blockSize: blockSize, table: newTable(&x.arena, x.options.Secret), waiting: map[uint64]map[uint32]struct{}{},
	}
	d.seats.Store(&[]seat{})
	return d
}

// unit returns the unit of a number, nil for one that has retired.
func (d *directory) unit(number uint32) *unit { return (*d.seats.Load())[number].unit.Load() }

// addUnit gives a group of a holding its number.
func (d *directory) addUnit(h *holding, group Group) *unit {
	u := &unit{plan: group.plan(), session: h.session, holding: h}
	if n := len(d.freeUnits); n > 0 {
		u.number, d.freeUnits = d.freeUnits[n-1], d.freeUnits[:n-1]
	} else {
		u.number = d.unitCount
		d.unitCount++
	}
	seats := *d.seats.Load()
	if int(u.number) >= len(seats) {
		grown := make([]seat, max(8, 2*len(seats)))
		for i := range seats {
			grown[i].unit.Store(seats[i].unit.Load())
			grown[i].shown.Store(seats[i].shown.Load())
		}
		d.seats.Store(&grown)
		seats = grown
	}
	u.groups.Store(int32(len(h.declared.groups)))
	if !u.alone() {
		d.grouped.Add(1)
	}
	seats[u.number].unit.Store(u)
	if h.session.current.Load() == h {
		seats[u.number].shown.Store(h.session)
	}
	return u
}

// show makes a unit visible.
func (d *directory) show(u *unit) { (*d.seats.Load())[u.number].shown.Store(u.session) }

// alone units are full groups of holders that have no other group.
func (u *unit) alone() bool { return u.aloneOf(u.groups.Load()) }

func (u *unit) aloneOf(groups int32) bool { return u.plan.Kind == FullGroup && groups == 1 }

// regroup looks again whether a unit is its holder's only group.
func (d *directory) regroup(u *unit) {
	was := u.alone()
	u.groups.Store(int32(len(u.holding.declared.groups)))
	switch is := u.alone(); {
	case was && !is:
		d.grouped.Add(1)
	case is && !was:
		d.grouped.Add(-1)
	}
}

// retire ends a unit at once for every reader. What it had is swept later.
func (d *directory) retire(u *unit) {
	seat := &(*d.seats.Load())[u.number]
	seat.unit.Store(nil)
	seat.shown.Store(nil)
	if !u.alone() {
		d.grouped.Add(-1)
	}
	d.sweep.retired = append(d.sweep.retired, u.number)
}

// store adds consecutive blocks of a chain to a unit.
func (d *directory) store(u *unit, c *Change, salted bool) {
	d.changes.Add(1)
	defer d.changes.Add(1)
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
		d.touch(d.run(p.run))
		i += n
		at, known, parent = place{p.run, p.offset + uint16(n) - 1}, true, c.Hashes[i-1]
	}
}

// follow returns how many hashes the run has from a place on.
func (d *directory) follow(p place, hashes []uint64) int {
	have := d.hashes(d.run(p.run).load())[p.offset:]
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
	if !known || int(at.offset)+1 != int(d.run(at.run).length()) || d.run(at.run).length() == maxRun {
		number = d.begin(at, known, parent, c, i, salted)
	}
	r := d.run(number)
	first := r.length()
	d.room(r, len(c.Hashes)-i)
	n := 0
	for ; i+n < len(c.Hashes) && int(first)+n < maxRun; n++ {
		hash := c.Hashes[i+n]
		if n%ahead == 0 {
			d.table.fetch(c.Hashes[i+n:])
		}
		if n > 0 {
			if _, found := d.table.find(hash); found {
				break
			}
		}
		d.push(r, hash)
		p := place{number, first + uint16(n)}
		d.table.insert(hash, p)
		if len(d.waiting) > 0 {
			d.adopt(hash, p)
		}
	}
	d.family.tenant.blocks += int64(n)
	return place{number, first}, n
}

// begin makes a run behind a place, or one that waits for its parent.
func (d *directory) begin(at place, known bool, parent uint64, c *Change, i int, salted bool) uint32 {
	number := d.newRun(len(c.Hashes) - i)
	r := d.run(number)
	r.directory, r.above = d.number, parent
	l := r.load()
	l.depth, l.salted, l.anchored = c.Depth+uint32(i), salted, c.Depth+uint32(i) == 0
	r.store(l)
	switch {
	case l.anchored:
	case known:
		d.link(number, at)
	default:
		if d.waiting[parent] == nil {
			d.waiting[parent] = map[uint32]struct{}{}
		}
		d.waiting[parent][number] = struct{}{}
		d.adrift.Add(1)
	}
	d.enlist(number)
	return number
}

// enlist puts a new run in its tenant's order of use.
func (d *directory) enlist(number uint32) { d.family.tenant.order.enter(d.arena, number) }

// link makes a run the continuation of a place.
func (d *directory) link(number uint32, at place) {
	r, parent := d.run(number), d.run(at.run)
	l := r.load()
	l.parent, l.parentOffset, r.above = at.run, at.offset, uint64(at.run)
	l.depth = parent.load().depth + uint32(at.offset) + 1
	l.anchored = d.isAnchored(at.run)
	r.store(l)
	d.countKids(parent, at.offset, 1)
}

// adopt links the runs that waited for a block. One that says to lie elsewhere
// goes on waiting: it is never reached from a chain's start.
func (d *directory) adopt(hash uint64, at place) {
	waiting, ok := d.waiting[hash]
	if !ok {
		return
	}
	depth := d.run(at.run).load().depth + uint32(at.offset) + 1
	for number := range waiting {
		if d.run(number).load().depth == depth && d.top(at.run) != number {
			d.link(number, at)
			d.adrift.Add(-1)
			delete(waiting, number)
		}
	}
	if len(waiting) == 0 {
		delete(d.waiting, hash)
	}
}

// top returns the run at which the known part of a run's chain begins, and notes it
// on the way, so that climbing again takes a few steps however long the way is. A
// run stays while anything continues it, so what is noted stays right but for
// runs that were joined to another one meanwhile: those lead on.
func (d *directory) top(number uint32) uint32 {
	top := number
	for {
		r := d.run(top)
		if r.load().parent == noRun {
			break
		}
		top = uint32(r.above)
	}
	for number != top {
		r := d.run(number)
		number, r.above = uint32(r.above), uint64(top)
	}
	return top
}

// isAnchored reports whether a run goes back to the start of its chain.
func (d *directory) isAnchored(number uint32) bool {
	return d.run(number).load().anchored || d.run(d.top(number)).load().anchored
}

// maxIntervals is the largest number of intervals of a run: far more than engines
// make, and less than a layout can count.
const maxIntervals = 1 << 22

// set changes what a unit has of a run, and the counts of its holding.
func (d *directory) set(u *unit, number uint32, e edit) {
	r := d.run(number)
	h := u.holding
	s := h.byDirectory[d]
	l := r.load()
	if e.on && l.used > maxIntervals {
		h.forgotten += int64(e.end - e.start)
		return
	}
	e.unit = u.number
	if len(s.units) == 1 {
		d.edit(r, e, func(start, end, before, after uint16) {
			h.count(s, int64(end-start), before, after, l.salted)
		})
		return
	}
	others := slices.Grow(d.masks[:0], int(e.end-e.start))[:e.end-e.start]
	clear(others)
	for _, other := range s.units {
		if other != u {
			d.addMasks(others, r, other.number, e.start)
		}
	}
	d.masks = others
	d.edit(r, e, func(start, end, before, after uint16) {
		for offset := start; offset < end; offset++ {
			other := others[offset-e.start]
			h.count(s, 1, other|before, other|after, l.salted)
		}
	})
}

// remove takes bits of one block from a unit.
func (d *directory) remove(u *unit, hash uint64, mask uint16) {
	p, found := d.table.find(hash)
	if !found {
		return
	}
	d.changes.Add(1)
	defer d.changes.Add(1)
	d.set(u, p.run, edit{start: p.offset, end: p.offset + 1, mask: mask})
	if p.offset+1 == d.run(p.run).length() {
		d.truncate(p.run)
	}
}

// truncate drops the blocks at the end of a run that nobody has and nothing
// continues; a run without blocks goes, and its parent may follow.
func (d *directory) truncate(number uint32) {
	for number != noRun {
		r := d.run(number)
		end := d.arena.end(r)
		l := r.load()
		hashes := d.hashes(l)
		for offset := end; offset < l.length; offset++ {
			d.table.remove(hashes[offset], place{number, offset})
		}
		d.family.tenant.blocks -= int64(l.length - end)
		l.length = end
		r.store(l)
		if end > 0 {
			return
		}
		if l.parent == noRun {
			d.forgetWaiting(number, l.depth, r.above)
		} else {
			d.countKids(d.run(l.parent), l.parentOffset, -1)
		}
		d.family.tenant.order.leave(d.arena, number)
		d.freeRun(number)
		number = l.parent
	}
}

func (d *directory) forgetWaiting(number, depth uint32, parentHash uint64) {
	if depth == 0 {
		return
	}
	waiting := d.waiting[parentHash]
	delete(waiting, number)
	d.adrift.Add(-1)
	if len(waiting) == 0 {
		delete(d.waiting, parentHash)
	}
}
