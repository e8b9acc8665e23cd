/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package report

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// silent fails when a session says something other than that it lives.
func (c *conversation) silent() {
	c.t.Helper()
	waitFor(c.t, c.ticks.HasWaiters)
	c.ticks.Step(defaultLease / heartbeatsPerLease)
	if m := c.next(); m.GetHeartbeat() == nil {
		c.t.Fatalf("sent %v, want a heartbeat while it waits", m)
	}
}

// TestSnapshotsTakeTurns has more replicas that want a snapshot than may get one at
// a time.
func TestSnapshotsTakeTurns(t *testing.T) {
	j, _ := journalWith(3, JournalOptions{})
	g := gateAt(clocktesting.NewFakeClock(start()))
	var first []*conversation
	for range maxSnapshots {
		c := converseAt(t, g, j, &pb.HelloReply{SnapshotWanted: true})
		c.next()
		first = append(first, c)
	}
	waitFor(t, func() bool { return len(g.slots) == maxSnapshots })
	last := converseAt(t, g, j, &pb.HelloReply{SnapshotWanted: true})
	last.next()
	last.silent()
	first[0].expect(-3)
	last.expect(-3)
	first[1].expect(-3)
}

// TestSnapshotsAreSpread puts a snapshot off by less than its size allows.
func TestSnapshotsAreSpread(t *testing.T) {
	j, _ := journalWith(3, JournalOptions{})
	g := gateAt(clocktesting.NewFakeClock(start()))
	limits := make(chan time.Duration, 1)
	g.spread = func(limit time.Duration) time.Duration {
		limits <- limit
		return time.Minute
	}
	c := converseAt(t, g, j, &pb.HelloReply{SnapshotWanted: true})
	c.next()
	if got, want := <-limits, 6*spreadPerBlock; got != want {
		t.Errorf("6 blocks are put off by up to %v, want %v", got, want)
	}
	c.silent()
	c.ticks.Step(time.Minute - defaultLease/heartbeatsPerLease)
	for {
		if m := c.next(); m.GetSnapshot() != nil {
			return
		}
	}
}

func TestRandomSpread(t *testing.T) {
	for range 100 {
		if got := randomSpread(2); got < 0 || got > 2 {
			t.Fatalf("spread by %v, want 2ns at most", got)
		}
	}
}

// TestStalledSnapshotEnds has an index that does not take what it asked for.
func TestStalledSnapshotEnds(t *testing.T) {
	j, _ := journalWith(3, JournalOptions{})
	g := gateAt(clocktesting.NewFakeClock(start()))
	c := converseAt(t, g, j, &pb.HelloReply{SnapshotWanted: true})
	c.next()
	waitFor(t, func() bool { return len(g.slots) == 1 })
	for len(c.ended) == 0 {
		// The watch may start after a step.
		c.ticks.Step(stallTimeout)
		waitFor(t, func() bool { return len(c.ended) > 0 || c.ticks.HasWaiters() })
	}
	if err := <-c.ended; err == nil {
		t.Error("ended without an error")
	}
	waitFor(t, func() bool { return len(g.slots) == 0 })
}
