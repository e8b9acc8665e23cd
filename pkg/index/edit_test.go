/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"math/rand/v2"
	"testing"
)

// TestEdit holds the intervals of a run against one mask per unit and block.
func TestEdit(t *testing.T) {
	const units, blocks = 5, 40
	rng := rand.New(rand.NewPCG(5, 5))
	a := &arena{}
	number := a.newRun(blocks)
	r := a.run(number)
	for i := range blocks {
		a.push(r, uint64(i))
	}
	var want [units][blocks]uint16
	for step := range 20_000 {
		e := edit{unit: uint32(rng.IntN(units)), mask: 1 << rng.IntN(9), on: rng.IntN(2) == 0}
		e.start = uint16(rng.IntN(blocks))
		e.end = e.start + 1 + uint16(rng.IntN(blocks-int(e.start)))
		changed := map[uint16][2]uint16{}
		a.edit(r, e, func(start, end, before, after uint16) {
			for i := start; i < end; i++ {
				changed[i] = [2]uint16{before, after}
			}
		})
		for i := range uint16(blocks) {
			before := want[e.unit][i]
			after := before
			if i >= e.start && i < e.end {
				after = e.apply(before)
			}
			want[e.unit][i] = after
			told, ok := changed[i]
			if ok != (before != after) || (ok && told != [2]uint16{before, after}) {
				t.Fatalf("step %d, block %d: told %v (%t), want %v", step, i, told, ok, [2]uint16{before, after})
			}
		}
		checkIntervals(t, step, a, r, &want)
	}
}

func checkIntervals(t *testing.T, step int, a *arena, r *run, want *[5][40]uint16) {
	t.Helper()
	list := a.list(r.load())
	for i := 1; i < len(list); i++ {
		p, q := list[i-1], list[i]
		if p >= q || (unitOf(p) == unitOf(q) && (endOf(p) > startOf(q) || (endOf(p) == startOf(q) && maskOf(p) == maskOf(q)))) {
			t.Fatalf("step %d: %v does not belong before %v", step, p, q)
		}
	}
	for u := range want {
		for i, mask := range want[u] {
			if got := a.mask(r, uint32(u), uint16(i)); got != mask {
				t.Fatalf("step %d: unit %d has %o of block %d, want %o", step, u, got, i, mask)
			}
		}
	}
}

func TestCountKids(t *testing.T) {
	a := &arena{}
	r := a.run(a.newRun(1))
	counts := map[uint16]int{}
	rng := rand.New(rand.NewPCG(9, 9))
	for range 5_000 {
		offset := uint16(rng.IntN(12))
		by := 1
		if counts[offset] > 0 && rng.IntN(2) == 0 {
			by = -1
		}
		counts[offset] += by
		a.countKids(r, offset, by)
		end, total := uint16(0), 0
		for o, n := range counts {
			if total += n; n > 0 {
				end = max(end, o+1)
			}
		}
		if got := a.end(r); got != end {
			t.Fatalf("end = %d, want %d", got, end)
		}
		for _, iv := range a.list(r.load()) {
			total -= int(iv & kidsMask)
		}
		if total != 0 {
			t.Fatalf("the counts are off by %d", total)
		}
	}
}

// TestTouchingAtTheEnd edits the last blocks that a run can have.
func TestTouchingAtTheEnd(t *testing.T) {
	a := &arena{}
	r := a.run(a.newRun(1))
	nothing := func(_, _, _, _ uint16) {}
	for _, unit := range []uint32{6, 7} {
		for offset := uint16(maxRun - 4); offset < maxRun; offset++ {
			a.edit(r, edit{unit: unit, start: offset, end: offset + 1, mask: 1 << (offset % 2), on: true}, nothing)
		}
		a.edit(r, edit{unit: unit, start: maxRun - 2, end: maxRun, mask: 1, on: true}, nothing)
	}
	for _, unit := range []uint32{6, 7} {
		for i, want := range []uint16{1, 2, 1, 3} {
			if got := a.mask(r, unit, maxRun-4+uint16(i)); got != want {
				t.Errorf("unit %d has %o of block %d, want %o", unit, got, maxRun-4+i, want)
			}
		}
	}
}
