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
	Known, Ghosts, Unplaced, Waiting int
	Confidence                       Confidence
	Copies                           map[uint32]int64
	Refs                             map[nodeKey]int32
	Instances, Possible              map[slotRef]int32
}

// checkInvariants compares everything that the mirror counts with what it holds.
func (m *Mirror) checkInvariants(t testing.TB) {
	t.Helper()
	if len(m.placements)+len(m.pins)+len(m.dirty) > 0 {
		t.Fatalf("work is left over: %d placements, %d pins, %d changes", len(m.placements), len(m.pins), len(m.dirty))
	}
	if want, got := m.count(t), m.counted(); !reflect.DeepEqual(want, got) {
		same := cmp.Comparer(func(a, b *node) bool { return a == b })
		t.Fatalf("counted anew (-) and kept (+):\n%s", cmp.Diff(want, got, cmp.AllowUnexported(slotRef{}, nodeKey{}), same))
	}
}

// counted returns what the mirror has counted.
func (m *Mirror) counted() tally {
	kept := tally{
		Known: m.known, Ghosts: m.ghosts.length, Unplaced: m.unplaced.length, Confidence: m.confidence,
		Copies: map[uint32]int64{}, Refs: map[nodeKey]int32{}, Instances: map[slotRef]int32{}, Possible: map[slotRef]int32{},
	}
	for _, e := range m.waiting {
		for ; e != nil; e = e.waitPost {
			kept.Waiting++
		}
	}
	for group, copies := range m.copies {
		if copies != 0 {
			kept.Copies[group] = copies
		}
	}
	for key, n := range m.nodes {
		kept.Refs[key] = n.refs
		for _, s := range n.slots {
			ref := slotRef{n, s.group, s.tier}
			if s.instances != 0 {
				kept.Instances[ref] = s.instances
			}
			if s.possible != 0 {
				kept.Possible[ref] = s.possible
			}
		}
	}
	return kept
}

// count walks everything that the mirror holds.
func (m *Mirror) count(t testing.TB) tally {
	t.Helper()
	c := tally{Copies: map[uint32]int64{}, Refs: map[nodeKey]int32{}, Instances: map[slotRef]int32{}, Possible: map[slotRef]int32{}}
	c.Confidence.Degraded = m.confidence.Degraded
	for key, n := range m.nodes {
		c.Refs[key] = 0
		if n.contested {
			c.Confidence.Conflicts++
		}
	}
	partials := map[*partial]int{}
	for _, head := range m.entries {
		for e := head; e != nil; e = e.next {
			c.addEntry(t, m, e)
			for _, p := range e.partials {
				partials[p]++
			}
		}
	}
	for p, pending := range partials {
		if pending != p.pending {
			t.Fatalf("a partial counts %d pending hashes, but %d refer to it", p.pending, pending)
		}
		for _, n := range p.marked {
			c.Refs[n.nodeKey]++
			c.Possible[slotRef{n, p.group, p.tier}]++
		}
	}
	return c
}

// addEntry counts one engine hash.
func (c *tally) addEntry(t testing.TB, m *Mirror, e *entry) {
	t.Helper()
	c.Known++
	if e.waits {
		c.Waiting++
	}
	switch {
	case e.node == nil:
		c.Unplaced++
		if e.resident() {
			c.Confidence.Unresolved++
			if !e.bounded() {
				c.Confidence.Unbounded++
			}
		}
	case !e.resident():
		c.Ghosts++
	}
	if e.node != nil {
		if m.nodes[e.node.nodeKey] != e.node {
			t.Fatalf("hash %x stands for a content that is not known", e.hash)
		}
		c.Refs[e.node.nodeKey]++
	}
	for _, r := range e.residencies {
		if r.copies <= 0 {
			t.Fatalf("hash %x has %d copies in group %d, tier %d", e.hash, r.copies, r.group, r.tier)
		}
		if r.tier == T1 {
			c.Copies[r.group] += int64(r.copies)
		}
		if e.node != nil {
			c.Instances[slotRef{e.node, r.group, r.tier}] += m.instances(r.copies)
		}
	}
}
