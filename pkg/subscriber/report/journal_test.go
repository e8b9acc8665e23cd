/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package report

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/kvevents"
)

func TestWindow(t *testing.T) {
	c := newDelayedClock()
	j := NewJournal(JournalOptions{Window: 100 * time.Millisecond, MaxPending: 10, Clock: c})
	steps := []struct {
		name string
		do   func()
		want uint64
	}{
		{"the first batch is reported at once", func() { j.Absorb(batchOf(1, 1)) }, 1},
		{"the second one waits", func() { j.Absorb(batchOf(2, 1)) }, 1},
		{"so does the third", func() { c.advance(60 * time.Millisecond); j.Absorb(batchOf(3, 1)) }, 1},
		{"they go together", func() { c.advance(40 * time.Millisecond) }, 2},
		{"many blocks do not wait", func() { j.Absorb(batchOf(4, 10)) }, 3},
		{"nothing is left over", func() { c.advance(time.Second) }, 3},
		{"a batch after a pause is reported at once", func() { j.Absorb(batchOf(5, 1)) }, 4},
		{"what changes nothing is not reported", func() { c.advance(time.Second); j.Absorb(&kvevents.Batch{}) }, 4},
	}
	for _, step := range steps {
		step.do()
		if got := j.Position().Last; got != step.want {
			t.Fatalf("%s: %d deltas, want %d", step.name, got, step.want)
		}
	}
}

func TestDeltaTimeIsThatOfTheNewestEvent(t *testing.T) {
	c := newDelayedClock()
	j := NewJournal(JournalOptions{Clock: c})
	for _, seed := range []uint64{7, 3} {
		j.Absorb(batchOf(seed, 1))
		c.advance(time.Second)
	}
	for _, delta := range j.Read(j.Position().Epoch, 1).Deltas {
		if delta.GetEventTimeUs() != 7_000_000 {
			t.Errorf("delta %d has the time %d, want that of the newest event, 7 s", delta.GetSequence(), delta.GetEventTimeUs())
		}
	}
}

func TestRestart(t *testing.T) {
	c := newDelayedClock()
	j := NewJournal(JournalOptions{Clock: c})
	j.Absorb(batchOf(1, 3))
	before := j.Position()
	reading := j.Read(before.Epoch, before.Last+1)
	j.Restart("")
	after := j.Position()
	if after.Epoch <= before.Epoch || after.Last != 0 || after.Oldest != 0 {
		t.Errorf("after a restart %+v, before %+v: want a larger epoch without deltas", after, before)
	}
	select {
	case <-reading.Changed:
	default:
		t.Error("readers are not told of a restart")
	}
	if !j.Read(before.Epoch, 1).Restarted {
		t.Error("the old epoch can still be read")
	}
	stats, _ := j.MirrorStats()
	if stats.StoredEvents != 1 || stats.Contents != 0 {
		t.Errorf("after a restart %+v, want counters that go on and no contents", stats)
	}
}

func TestRestartSaysWhy(t *testing.T) {
	j := NewJournal(JournalOptions{Clock: newDelayedClock()})
	j.Restart("events were lost")
	want := []*pb.Delta{{Sequence: 1, Changes: []*pb.Change{{Change: &pb.Change_Confidence{Confidence: &pb.Confidence{Degraded: "events were lost"}}}}}}
	if diff := cmp.Diff(want, j.Read(j.Position().Epoch, 1).Deltas, protocmp.Transform()); diff != "" {
		t.Errorf("deltas (-want +got):\n%s", diff)
	}
}

func TestRead(t *testing.T) {
	c := newDelayedClock()
	j := NewJournal(JournalOptions{Clock: c, MaxDeltas: 3})
	for seed := range uint64(5) {
		j.Absorb(batchOf(seed+1, 1))
		c.advance(time.Second)
	}
	epoch := j.Position().Epoch
	tests := map[string]struct {
		next   uint64
		first  uint64
		count  int
		behind bool
	}{
		"what is kept":         {next: 3, first: 3, count: 3},
		"the newest":           {next: 5, first: 5, count: 1},
		"nothing new":          {next: 6},
		"not kept any more":    {next: 2, behind: true},
		"from before the time": {next: 0, behind: true},
		"never made":           {next: 7, behind: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := j.Read(epoch, tc.next)
			if r.Behind != tc.behind || len(r.Deltas) != tc.count {
				t.Fatalf("behind %v with %d deltas, want %v with %d", r.Behind, len(r.Deltas), tc.behind, tc.count)
			}
			if tc.count > 0 && r.Deltas[0].GetSequence() != tc.first {
				t.Errorf("begins with %d, want %d", r.Deltas[0].GetSequence(), tc.first)
			}
		})
	}
}

func TestRingIsBounded(t *testing.T) {
	r := ring{maxCount: 100, maxBytes: 10_000}
	for sequence := range uint64(1000) {
		hashes := make([]byte, 8*(sequence%50))
		r.push(&pb.Delta{Sequence: sequence + 1, Changes: []*pb.Change{{Change: &pb.Change_Store{Store: &pb.Store{Hashes: hashes}}}}})
		if r.bytes > r.maxBytes || r.len() > r.maxCount || len(r.deltas) > 2*r.maxCount+2 {
			t.Fatalf("%d bytes in %d deltas, %d places", r.bytes, r.len(), len(r.deltas))
		}
		if got := r.from(r.oldest(), 1000); len(got) != r.len() || got[len(got)-1].GetSequence() != sequence+1 {
			t.Fatalf("%d of %d deltas, want all of them to %d", len(got), r.len(), sequence+1)
		}
	}
	r.push(&pb.Delta{Sequence: 1001, Changes: []*pb.Change{{Change: &pb.Change_Store{Store: &pb.Store{Hashes: make([]byte, 20_000)}}}}})
	if r.oldest() != 0 || r.bytes != 0 {
		t.Errorf("a delta larger than the ring left %d bytes", r.bytes)
	}
}

func TestTimestamps(t *testing.T) {
	for seconds, want := range map[float64]int64{1.5: 1_500_000, 0: 0, -1: 0, 1e300: 0} {
		if got := microseconds(seconds); got != want {
			t.Errorf("%v s: %d µs, want %d", seconds, got, want)
		}
	}
}
