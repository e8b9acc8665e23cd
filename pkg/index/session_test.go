/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var (
	start     = time.Unix(1_800_000_000, 0)
	fullGroup = Group{Index: 0, Kind: FullGroup, SpecKind: "full_attention", BlockSize: 16}
	base      = Scope{BlockSize: 16}
)

func helloOf(pod string, epoch uint64) Hello {
	return Hello{
		Holder: Holder{Namespace: "ns", Pod: pod}, Backend: Backend{"ns", "b"}, Tenant: "ns", Model: "m",
		HashScheme: "vllm", Epoch: epoch,
	}
}

// declare names scope 0 and the given groups.
func declare(groups ...Group) []Change {
	changes := []Change{{Op: DeclareScope, Scope: base}}
	for _, g := range groups {
		changes = append(changes, Change{Op: DeclareGroup, Group: g})
	}
	return changes
}

func open(t *testing.T, x *Index, h Hello) Stream {
	t.Helper()
	stream, _, err := x.Open(h, start)
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

func apply(t *testing.T, x *Index, s Stream, sequence uint64, changes ...Change) Outcome {
	t.Helper()
	outcome, err := x.Delta(s, sequence, changes, start, start)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

// reused returns what a holder reuses of a chain, or −1 when it is not in the answer.
func reused(x *Index, pod string, promptTokens int, chain ...uint64) int {
	got, _ := x.Lookup(&Query{Tenant: "ns", Model: "m", Chains: []Chain{{16, chain}}, PromptTokens: promptTokens}, nil)
	for _, m := range got {
		if m.Session.Holder().Pod == pod {
			return int(m.Tokens)
		}
	}
	return -1
}

func TestInvalidDeltaChangesNothing(t *testing.T) {
	tests := map[string]Change{
		"scope not declared":       {Op: Store, ScopeID: 9, Hashes: []uint64{1}},
		"group not declared":       {Op: Store, GroupIndex: 9, Hashes: []uint64{1}},
		"tier out of range":        {Op: Store, Tier: 4, Hashes: []uint64{1}},
		"certainty out of range":   {Op: Remove, Certainty: 3, Hashes: []uint64{1}},
		"parent at depth 0":        {Op: Store, HasParent: true, Parent: 5, Hashes: []uint64{1}},
		"no parent at depth 1":     {Op: Store, Depth: 1, Hashes: []uint64{1}},
		"chain too deep":           {Op: Store, HasParent: true, Depth: maxDepth, Hashes: []uint64{1}},
		"unknown kind":             {Op: 99},
		"block size 0":             {Op: DeclareScope, ScopeID: 1},
		"block size too large":     {Op: DeclareScope, ScopeID: 1, Scope: Scope{BlockSize: maxBlockSize + 1}},
		"scope declared otherwise": {Op: DeclareScope, Scope: Scope{BlockSize: 32}},
		"group declared otherwise": {Op: DeclareGroup, Group: Group{Kind: WindowGroup, BlockSize: 16}},
		"group of unknown kind":    {Op: DeclareGroup, Group: Group{Index: 1, Kind: 7, BlockSize: 16}},
		"group without block size": {Op: DeclareGroup, Group: Group{Index: 1, Kind: FullGroup}},
		"block sizes do not match": {Op: Store, ScopeID: 2, Hashes: []uint64{1}},
	}
	for name, bad := range tests {
		t.Run(name, func(t *testing.T) {
			x := New(Options{}, start)
			s := open(t, x, helloOf("a", 1))
			apply(t, x, s, 1, append(declare(fullGroup), Change{Op: DeclareScope, ScopeID: 2, Scope: Scope{BlockSize: 64}})...)
			good := Change{Op: Store, Hashes: []uint64{10, 11}}
			if _, err := x.Delta(s, 2, []Change{good, bad}, start, start); !errors.Is(err, errInvalid) {
				t.Fatalf("error = %v, want an invalid change", err)
			}
			if got := reused(x, "a", 0, 10, 11); got != -1 {
				t.Errorf("an invalid delta stored %d tokens", got)
			}
			if outcome := apply(t, x, s, 2, good); outcome != Applied {
				t.Errorf("the sequence moved: outcome %d", outcome)
			}
		})
	}
}

func TestOpen(t *testing.T) {
	with := func(mutate func(*Hello)) Hello {
		h := helloOf("a", 5)
		h.OldestSequence, h.LastSequence = 1, 3
		mutate(&h)
		return h
	}
	tests := map[string]struct {
		hello   Hello
		want    OpenReply
		wantErr error
	}{
		"same state resumes":           {hello: with(func(*Hello) {}), want: OpenReply{ResumeFrom: 4}},
		"newer deltas resume":          {hello: with(func(h *Hello) { h.LastSequence = 9; h.OldestSequence = 4 }), want: OpenReply{ResumeFrom: 4}},
		"lost deltas want a snapshot":  {hello: with(func(h *Hello) { h.LastSequence = 9; h.OldestSequence = 5 }), want: OpenReply{ResumeFrom: 4, SnapshotWanted: true}},
		"fewer deltas than applied":    {hello: with(func(h *Hello) { h.LastSequence = 2 }), want: OpenReply{ResumeFrom: 4, SnapshotWanted: true}},
		"newer epoch starts over":      {hello: with(func(h *Hello) { h.Epoch = 6 }), want: OpenReply{ResumeFrom: 1}},
		"other model starts over":      {hello: with(func(h *Hello) { h.Model = "n"; h.OldestSequence = 2 }), want: OpenReply{ResumeFrom: 1, SnapshotWanted: true}},
		"older epoch is refused":       {hello: with(func(h *Hello) { h.Epoch = 4 }), wantErr: ErrStaleEpoch},
		"hello without epoch":          {hello: with(func(h *Hello) { h.Epoch = 0 }), wantErr: errInvalid},
		"epoch out of range":           {hello: with(func(h *Hello) { h.Epoch = maxNumber + 1 }), wantErr: errInvalid},
		"hello without model":          {hello: with(func(h *Hello) { h.Model = "" }), wantErr: errInvalid},
		"nothing made, nothing wanted": {hello: with(func(h *Hello) { h.Epoch = 6; h.LastSequence = 0; h.OldestSequence = 0 }), want: OpenReply{ResumeFrom: 1}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			x := New(Options{}, start)
			s := open(t, x, helloOf("a", 5))
			apply(t, x, s, 1, append(declare(fullGroup), Change{Op: Store, Hashes: []uint64{1}})...)
			apply(t, x, s, 2)
			apply(t, x, s, 3)
			_, got, err := x.Open(tc.hello, start)
			if !errors.Is(err, tc.wantErr) {
				t.Fatalf("error = %v, want %v", err, tc.wantErr)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("reply differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNewerStreamSupersedes(t *testing.T) {
	x := New(Options{}, start)
	old := open(t, x, helloOf("a", 1))
	open(t, x, helloOf("a", 1))
	if _, err := x.Delta(old, 1, nil, start, start); !errors.Is(err, ErrSuperseded) {
		t.Errorf("a delta on the old stream gives %v, want %v", err, ErrSuperseded)
	}
	if err := x.Snapshot(old, Chunk{Last: true}, start); !errors.Is(err, ErrSuperseded) {
		t.Errorf("a snapshot on the old stream gives %v, want %v", err, ErrSuperseded)
	}
	x.Close(old, start)
	if got := onlySession(x).State(); got != Live {
		t.Errorf("closing the old stream makes the holder %v", got)
	}
}

func TestLease(t *testing.T) {
	x := New(Options{Lease: time.Minute, WarmUp: -1}, start)
	s := open(t, x, helloOf("a", 1))
	apply(t, x, s, 1, append(declare(fullGroup), Change{Op: Store, Hashes: []uint64{1, 2}})...)
	x.Close(s, start)
	x.Expire(start.Add(59 * time.Second))
	if got := reused(x, "a", 0, 1, 2); got != 32 {
		t.Errorf("a suspect holder reuses %d tokens, want 32", got)
	}
	if x.Complete(start.Add(59 * time.Second)) {
		t.Error("the index is complete beside a suspect holder")
	}
	x.Expire(start.Add(time.Minute))
	if _, known := x.Lookup(&Query{Tenant: "ns", Model: "m"}, nil); known != Empty {
		t.Errorf("after the lease the index knows %v, want Empty", known)
	}
	if len(x.tenants.all()) != 0 || len(x.byBackend) != 0 || len(x.byStream) != 0 {
		t.Error("a dropped holder leaves something behind")
	}
}

func TestSnapshotInterrupted(t *testing.T) {
	x := New(Options{}, start)
	s := open(t, x, helloOf("a", 1))
	apply(t, x, s, 1, append(declare(fullGroup), Change{Op: Store, Hashes: []uint64{1, 2}})...)
	chunk := Chunk{Sequence: 7, Changes: append(declare(fullGroup), Change{Op: Store, Hashes: []uint64{1, 2, 3}})}
	if err := x.Snapshot(s, chunk, start); err != nil {
		t.Fatal(err)
	}
	if got := reused(x, "a", 0, 1, 2, 3); got != 32 {
		t.Errorf("half a snapshot is visible: %d tokens", got)
	}
	if err := x.Snapshot(s, Chunk{Sequence: 7, Number: 2, Last: true}, start); !errors.Is(err, errInvalid) {
		t.Errorf("a skipped chunk gives %v", err)
	}
	x.Close(s, start)
	if got := reused(x, "a", 0, 1, 2, 3); got != 32 {
		t.Errorf("after the stream was lost: %d tokens, want the state before the snapshot", got)
	}
}

// TestWithheldSnapshot asks for a snapshot that never comes.
func TestWithheldSnapshot(t *testing.T) {
	x := New(Options{Lease: time.Minute, WarmUp: -1}, start)
	s := open(t, x, helloOf("a", 1))
	if outcome := apply(t, x, s, 5); outcome != Gap {
		t.Fatalf("outcome %d, want a gap", outcome)
	}
	x.Expire(start)
	x.Expire(start.Add(2*time.Minute - time.Second))
	if x.Complete(start) {
		t.Error("complete while a snapshot is awaited")
	}
	x.Expire(start.Add(2 * time.Minute))
	if !x.Complete(start.Add(2 * time.Minute)) {
		t.Error("one holder keeps the index incomplete for ever")
	}
	if _, err := x.Heartbeat(s, 5); !errors.Is(err, ErrSuperseded) {
		t.Errorf("the stream goes on: %v", err)
	}
}

func TestWarmUp(t *testing.T) {
	x := New(Options{WarmUp: 10 * time.Second}, start)
	if x.Complete(start.Add(9 * time.Second)) {
		t.Error("complete before the warm-up is over")
	}
	if !x.Complete(start.Add(10 * time.Second)) {
		t.Error("incomplete after the warm-up, with no holder known")
	}
}

func TestEventTimes(t *testing.T) {
	x := New(Options{}, start)
	s := open(t, x, helloOf("a", 1))
	for i, at := range []time.Duration{-time.Minute, -2 * time.Minute, time.Hour} {
		if _, err := x.Delta(s, uint64(i+1), nil, start.Add(at), start); err != nil {
			t.Fatal(err)
		}
	}
	views, _ := x.BackendHolders(Backend{"ns", "b"}, start)
	if !views[0].FirstEvent.Equal(start.Add(-time.Minute)) || !views[0].LastEvent.Equal(start) {
		t.Errorf("events from %v to %v, want the first one and never a time ahead of ours", views[0].FirstEvent, views[0].LastEvent)
	}
}

func onlySession(x *Index) *Session {
	serving, _ := x.Serving("ns", "m", "", nil)
	return serving[0]
}
