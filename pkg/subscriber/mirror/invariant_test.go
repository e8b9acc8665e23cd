/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tally is what a mirror counts as it goes, counted anew.
type tally struct {
	Known, Ghosts, Unplaced, Waiting, Contents int
	Confidence                                 Confidence
	Copies                                     [maxGroup + 1]int64
	// Children counts blocks by their parent, Refs hashes and partials by content.
	Children            map[uint32]int
	Refs                map[uint32]int32
	Instances, Possible map[laneRef]int32
}

func newTally() tally {
	return tally{
		Children: map[uint32]int{}, Refs: map[uint32]int32{},
		Instances: map[laneRef]int32{}, Possible: map[laneRef]int32{},
	}
}

// checkInvariants compares everything that the mirror counts with what it holds.
func (m *Mirror) checkInvariants(t testing.TB) {
	t.Helper()
	if len(m.placements)+len(m.pins)+len(m.dirty) > 0 {
		t.Fatalf("work is left over: %d placements, %d pins, %d changes", len(m.placements), len(m.pins), len(m.dirty))
	}
	m.checkBlocks(t)
	if want, got := m.count(t), m.counted(); !reflect.DeepEqual(want, got) {
		t.Fatalf("counted anew (-) and kept (+):\n%s", cmp.Diff(want, got))
	}
}

// counted returns what the mirror has counted.
func (m *Mirror) counted() tally {
	kept := newTally()
	kept.Known, kept.Ghosts, kept.Unplaced, kept.Contents = m.known, m.ghosts.count, len(m.parked), m.contents.count
	kept.Confidence, kept.Copies = m.confidence, m.copies
	for _, e := range m.waiting {
		for ; e != nil; e = e.waitPost {
			kept.Waiting++
		}
	}
	for i := uint32(1); i < m.blocks.next; i++ {
		if n := int(m.at(i).place>>childShift&childMask) + int(m.families[i]); n > 0 {
			kept.Children[i] = n
		}
	}
	for i, n := range m.special {
		kept.Refs[i] = n.refs
		for _, s := range n.slots {
			if s.instances != 0 {
				kept.Instances[laneRef{i, s.lane}] = s.instances
			}
			if s.possible != 0 {
				kept.Possible[laneRef{i, s.lane}] = s.possible
			}
		}
	}
	return kept
}

// count walks everything that the mirror holds.
func (m *Mirror) count(t testing.TB) tally {
	t.Helper()
	c := newTally()
	c.Confidence.Degraded = m.confidence.Degraded
	for i, n := range m.special {
		c.Refs[i] = 0
		if n.contested {
			c.Confidence.Conflicts++
		}
	}
	partials := map[*partial]int{}
	for i := uint32(1); i < m.blocks.next; i++ {
		b := m.at(i)
		if b.parent != none && b.placed() {
			c.Children[b.parent]++
		}
		if b.primary() {
			c.Contents++
		}
		if b.named() {
			c.addNamed(m, i, b)
		}
	}
	for _, e := range m.parked {
		for _, p := range e.partials {
			partials[p]++
		}
	}
	for p, pending := range partials {
		if pending != p.pending {
			t.Fatalf("a partial counts %d pending hashes, but %d refer to it", p.pending, pending)
		}
		for _, i := range p.marked {
			c.Refs[i]++
			c.Possible[laneRef{i, p.lane}]++
		}
	}
	return c
}

// addNamed counts one engine hash.
func (c *tally) addNamed(m *Mirror, i uint32, b *block) {
	c.Known++
	resident := m.resident(i, b)
	if e := m.parked[i]; e != nil {
		c.Unplaced++
		if e.waits {
			c.Waiting++
		}
		if resident {
			c.Confidence.Unresolved++
			if !e.bounded() {
				c.Confidence.Unbounded++
			}
		}
	} else if !resident {
		c.Ghosts++
	}
	primary := uint32(none)
	if b.placed() {
		primary = m.findContent(b.scope(), b.content())
		if m.at(primary).special() {
			c.Refs[primary]++
		}
	}
	m.heldLanes(i, b, func(l uint8, held copies) {
		if m.lanes[l].tier == T1 {
			c.Copies[m.lanes[l].group] += int64(held.count)
		}
		if primary != none && m.at(primary).special() {
			c.Instances[laneRef{primary, l}] += m.instances(held.count)
		}
	})
}

// checkBlocks checks every block on its own: that it is found where it should be,
// and that what is not in its record is where it should be.
func (m *Mirror) checkBlocks(t testing.TB) {
	t.Helper()
	queued := map[uint32]bool{}
	for _, i := range m.ghosts.queue[m.ghosts.first:] {
		queued[i] = true
	}
	free := 0
	for i := m.blocks.free; i != none; i = m.at(i).parent {
		free++
	}
	used := 0
	for i := uint32(1); i < m.blocks.next; i++ {
		b := m.at(i)
		children := b.place>>childShift&childMask != 0
		if b.named() || b.primary() || children {
			used++
		}
		switch {
		case b.named() && m.lookup(b.hash(), m.sizeOf(i, b)) != i:
			t.Fatalf("block %d is not found by its hash", i)
		case b.primary() && (!b.placed() || m.findContent(b.scope(), b.content()) != i):
			t.Fatalf("block %d is not found by its content", i)
		case b.named() && !b.primary() && b.placed() && m.findContent(b.scope(), b.content()) == none:
			t.Fatalf("block %d stands for a content that is not known", i)
		case b.named() && b.placed() == (m.parked[i] != nil), !b.named() && m.parked[i] != nil:
			t.Fatalf("block %d is named %t, placed %t and parked %t", i, b.named(), b.placed(), m.parked[i] != nil)
		case b.special() != (m.special[i] != nil) || b.special() && b.told != 0:
			t.Fatalf("block %d is special %t, with node %v, told %b", i, b.special(), m.special[i], b.told)
		case b.crowded() != m.anyCrowd(i):
			t.Fatalf("block %d is crowded %t", i, b.crowded())
		case m.isGhost(i, b) && !queued[i]:
			t.Fatalf("ghost %d is not in the queue", i)
		case !b.named() && b.held != 0:
			t.Fatalf("block %d holds lanes %b without a hash", i, b.held)
		}
	}
	if used+free != int(max(m.blocks.next, 1))-1 || m.hashes.count != m.known {
		t.Fatalf("of %d blocks %d are used and %d free; %d hashes are found of %d", m.blocks.next, used, free, m.hashes.count, m.known)
	}
}
