/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"testing"
	"time"
)

// TestOrphansAreAdopted sends chains in the wrong order.
func TestOrphansAreAdopted(t *testing.T) {
	x := New(Options{}, start)
	s := open(t, x, helloOf("a", 1))
	at := func(depth uint32, parent uint64, hashes ...uint64) Change {
		return Change{Op: Store, Depth: depth, Parent: parent, HasParent: depth > 0, Hashes: hashes}
	}
	apply(t, x, s, 1, append(declare(fullGroup), at(4, 4, 5, 6), at(2, 2, 3, 4))...)
	if got := reused(x, "a", 0, 1, 2, 3, 4, 5, 6); got != -1 {
		t.Fatalf("%d tokens without the start of the chain", got)
	}
	apply(t, x, s, 2, at(0, 0, 1, 2))
	if got := reused(x, "a", 0, 1, 2, 3, 4, 5, 6); got != 96 {
		t.Fatalf("%d tokens after the start came, want 96", got)
	}
	if chains, _ := x.ChainsTo("ns", "m", "", "", 6); len(chains) != 1 || len(chains[0].Hashes) != 6 {
		t.Errorf("the chain to the last block is %v", chains)
	}
}

// TestFalseParent reports a block under a parent that it does not have: a lookup
// goes by hashes, whatever a reporter says of their order.
func TestFalseParent(t *testing.T) {
	x := New(Options{}, start)
	honest, liar := open(t, x, helloOf("honest", 1)), open(t, x, helloOf("liar", 1))
	apply(t, x, liar, 1, append(declare(fullGroup),
		Change{Op: Store, Hashes: []uint64{9}},
		Change{Op: Store, Parent: 9, HasParent: true, Depth: 1, Hashes: []uint64{2}})...)
	apply(t, x, honest, 1, append(declare(fullGroup), Change{Op: Store, Hashes: []uint64{1, 2, 3}})...)
	if got := reused(x, "honest", 0, 1, 2, 3); got != 48 {
		t.Errorf("the honest holder reuses %d tokens, want 48", got)
	}
	if got := reused(x, "liar", 0, 1, 2, 3); got != -1 {
		t.Errorf("the other one reuses %d tokens, want none", got)
	}
}

// TestFalsePosition has an honest holder of a block of which another one has told a
// false position before.
func TestFalsePosition(t *testing.T) {
	x := New(Options{}, start)
	honest, liar := open(t, x, helloOf("honest", 1)), open(t, x, helloOf("liar", 1))
	apply(t, x, liar, 1, append(declare(fullGroup),
		Change{Op: Store, Parent: 77, HasParent: true, Depth: 7, Hashes: []uint64{5}})...)
	chain := []uint64{1, 2, 3, 4, 5, 6, 7, 8}
	apply(t, x, honest, 1, append(declare(fullGroup), Change{Op: Store, Hashes: chain})...)
	for asked := range chain {
		if got := reused(x, "honest", 0, chain[:asked+1]...); got != (asked+1)*16 {
			t.Errorf("of %d blocks the honest holder reuses %d tokens, want %d", asked+1, got, (asked+1)*16)
		}
	}
	if got := reused(x, "honest", 0, append(chain, 100, 101, 102, 103, 104)...); got != 128 {
		t.Errorf("of a longer prompt the honest holder reuses %d tokens, want 128", got)
	}
	if got := reused(x, "liar", 0, chain...); got != -1 {
		t.Errorf("the other one reuses %d tokens, want none", got)
	}
}

// TestParentLoop reports two runs that claim to continue each other. Their blocks
// are there all the same.
func TestParentLoop(t *testing.T) {
	x := New(Options{}, start)
	s := open(t, x, helloOf("a", 1))
	apply(t, x, s, 1, append(declare(fullGroup),
		Change{Op: Store, Parent: 2, HasParent: true, Depth: 2, Hashes: []uint64{1}},
		Change{Op: Store, Parent: 1, HasParent: true, Depth: 1, Hashes: []uint64{2}})...)
	if got := reused(x, "a", 0, 2, 1); got != 32 {
		t.Errorf("a loop gives %d tokens, want 32", got)
	}
	apply(t, x, s, 2, Change{Op: Remove, Hashes: []uint64{1, 2}})
	cleanUp(t, x)
}

// TestLongChain is longer than a run can be.
func TestLongChain(t *testing.T) {
	x := New(Options{}, start)
	s := open(t, x, helloOf("a", 1))
	chain := make([]uint64, 3*maxRun/2)
	for i := range chain {
		chain[i] = uint64(i+1) << 40
	}
	apply(t, x, s, 1, append(declare(fullGroup), Change{Op: Store, Hashes: chain})...)
	if got := reused(x, "a", 0, chain...); got != len(chain)*16 {
		t.Errorf("%d tokens, want %d", got, len(chain)*16)
	}
	x.Close(s, start)
	cleanUp(t, x)
}

// cleanUp lets every lease end and fails if anything is left allocated.
func cleanUp(t *testing.T, x *Index) {
	t.Helper()
	if left := leftOver(x, start.Add(24*time.Hour)); left != "" {
		t.Error(left)
	}
}

// leftOver ends every session and says what of their state is still there.
func leftOver(x *Index, now time.Time) string {
	for stream := range x.byStream {
		x.Close(stream, now)
	}
	x.Expire(now.Add(x.Lease()))
	switch {
	case len(x.sessions)+len(x.byBackend)+len(x.tenants.all())+len(x.directories)-len(x.freeDirectories)+int(x.stale.Load()) > 0:
		return "a holder or a family is left"
	case len(x.unswept) > 0:
		return "something is left to sweep"
	case x.arena.runs.live+x.arena.words.live+x.arena.intervals.live+x.arena.slots > 0:
		return "memory is left in the arena"
	}
	return ""
}
