/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"slices"
	"sync/atomic"
)

// read takes the blocks from start to end−1 of a run. It reports false when the
// run has changed since it was glanced at. In the first run of a scan no unit was
// met before, and after the last one nobody asks which were.
func (sc *scratch) read(s *step, start, end uint16, isFirst, isLast bool) bool {
	d := sc.prompts[s.prompt].directory
	grouped := d.grouped.Load() > 0
	if isFirst && start == 0 && !grouped {
		return sc.readRoot(d.list(s.layout), end, isLast) && d.run(s.number).version.Load() == s.version
	}
	list, steady := d.copyList(sc.list, s.number, s.layout, s.version)
	if sc.list = list; !steady {
		return false
	}
	unit, at := uint32(kids), int32(none)
	for _, iv := range list {
		number := unitOf(iv)
		if number == kids {
			break
		}
		from, to := max(startOf(iv), start), min(endOf(iv), end)
		if from >= to {
			continue
		}
		if int(number) >= len(sc.marks) {
			return false // a unit that came after the scan began
		}
		// Depths wrap around where a walk begins behind the start of a run.
		first := int32(s.depth + uint32(from))
		if number != unit || at == none {
			unit = number
			if m := &sc.marks[number]; !isFirst && m.turn == sc.turn {
				at = m.at
			} else if at = sc.meet(d, number, first, grouped); at != none && !isLast {
				*m = mark32{sc.turn, at}
			}
		}
		if at != none {
			sc.extend(&sc.reaches[at], first, first+int32(to-from), maskOf(iv))
		}
	}
	return true
}

// readRoot is read for the first run of a chain where every unit is alone: most
// lookups are not much else. It takes the intervals as they are in memory; should
// they change meanwhile, all that comes of it is thrown away.
func (sc *scratch) readRoot(list []interval, end uint16, isLast bool) bool {
	n := len(sc.reaches)
	reaches := slices.Grow(sc.reaches, len(list))[:n+len(list)]
	for i := range list {
		iv := atomic.LoadUint64(&list[i])
		if iv >= kids<<unitShift {
			break
		}
		start, unit := startOf(iv), unitOf(iv)
		to, mask := int32(min(endOf(iv), end)), maskOf(iv)
		switch {
		case start > 0:
			if n > 0 && reaches[n-1].unit == unit && start < end {
				sc.extend(&reaches[n-1], int32(start), to, mask)
			}
			continue
		case int(unit) >= len(sc.marks):
			return false // it came after the scan began
		case !isLast:
			sc.marks[unit] = mark32{sc.turn, int32(n)}
		}
		r := &reaches[n]
		r.unit, r.prompt, r.cold, r.member = unit, sc.prompt, [2]int32{}, none
		if mask == plainMask {
			r.depth[0], r.depth[1], r.depth[2] = to, to, to
		} else {
			r.depth = [3]int32{}
			sc.extend(r, 0, to, mask)
		}
		n++
	}
	sc.reaches = reaches[:n]
	return true
}

// meet makes a reach for a unit that was not met before. A unit that is alone and
// does not begin at the start of the chain has none.
func (sc *scratch) meet(d *directory, number uint32, first int32, grouped bool) int32 {
	member := int32(none)
	switch {
	case grouped:
		u := d.unit(number)
		if u == nil {
			return none
		}
		groups := u.groups.Load()
		if u.aloneOf(groups) {
			if first > 0 {
				return none
			}
			break
		}
		member = int32(len(sc.members))
		sc.members = slices.Grow(sc.members, 1)[:member+1]
		sc.members[member].begin(&u.plan, groups)
	case first > 0:
		return none
	}
	n := len(sc.reaches)
	sc.reaches = slices.Grow(sc.reaches, 1)[:n+1]
	r := &sc.reaches[n]
	r.unit, r.prompt, r.depth, r.cold, r.member = number, sc.prompt, [3]int32{}, [2]int32{}, member
	return int32(n)
}

// plainMask is what most blocks are: announced, in T1, and in no other way.
const plainMask = 1

// extend takes the blocks from position first to end−1, in the order of the chain.
func (sc *scratch) extend(r *reach, first, end int32, mask uint16) {
	// What a full group has is its depth; only what is cold or doubted is of interest.
	if r.member != none && (mask != plainMask || !sc.members[r.member].full) {
		m := &sc.members[r.member]
		sc.parts = append(sc.parts, part{first, end, m.last, mask})
		m.last = int32(len(sc.parts) - 1)
		m.doubted = m.doubted || mask&^announcedMask != 0
		m.cold = m.cold || mask&plainMask == 0
	}
	if r.depth[2] != first {
		return
	}
	if mask == plainMask && r.depth[0] == first {
		r.depth[0], r.depth[1], r.depth[2] = end, end, end
		return
	}
	r.depth[2] = end
	if mask&possibleMask == mask {
		return
	}
	if r.depth[1] == first {
		r.depth[1] = end
		if tier := bestTier(mask); tier != T1 {
			r.cold[tier-T2] += end - first
		}
	}
	if mask&announcedMask != 0 && r.depth[0] == first {
		r.depth[0] = end
	}
}
