/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/index"
)

func packed(hashes ...uint64) []byte {
	var out []byte
	for _, hash := range hashes {
		out = fingerprint.AppendWire(out, hash)
	}
	return out
}

func TestReadChanges(t *testing.T) {
	in := []*pb.Change{
		{Change: &pb.Change_Scope{Scope: &pb.Scope{Id: 3, AdapterId: "sql", BlockSize: 16, Salted: true}}},
		{Change: &pb.Change_Group{Group: &pb.Group{Index: 1, Kind: pb.GroupKind_GROUP_KIND_WINDOW, SpecKind: "sliding_window", Window: 128, BlockSize: 16}}},
		{Change: &pb.Change_Store{Store: &pb.Store{
			Scope: 3, Group: 1, Tier: pb.CacheTier_CACHE_TIER_T2, Certainty: pb.Certainty_CERTAINTY_POSSIBLE,
			Parent: new(uint64), Depth: 4, Hashes: packed(0x0102030405060708, 9),
			Also: []*pb.Place{{Group: 2, Tier: pb.CacheTier_CACHE_TIER_T1, Certainty: pb.Certainty_CERTAINTY_ANNOUNCED}},
		}}},
		{Change: &pb.Change_Remove{Remove: &pb.Remove{
			Scope: 3, Group: 1, Tier: pb.CacheTier_CACHE_TIER_T3, Certainty: pb.Certainty_CERTAINTY_INFERRED, Hashes: packed(10),
		}}},
		{Change: &pb.Change_Clear{Clear: &pb.Clear{}}},
		{Change: &pb.Change_Confidence{Confidence: &pb.Confidence{Conflicts: 1, Unresolved: 2, Unbounded: 1, Degraded: "late"}}},
	}
	want := []index.Change{
		{Op: index.DeclareScope, ScopeID: 3, Scope: index.Scope{Adapter: "sql", BlockSize: 16, Salted: true}},
		{Op: index.DeclareGroup, Group: index.Group{Index: 1, Kind: index.WindowGroup, SpecKind: "sliding_window", Window: 128, BlockSize: 16}},
		// A parent of 0 is a parent.
		{Op: index.Store, ScopeID: 3, GroupIndex: 1, Tier: index.T2, Certainty: index.Possible, HasParent: true, Depth: 4, Hashes: []uint64{0x0102030405060708, 9}},
		{Op: index.Store, ScopeID: 3, GroupIndex: 2, Tier: index.T1, Certainty: index.Announced, HasParent: true, Depth: 4, Hashes: []uint64{0x0102030405060708, 9}},
		{Op: index.Remove, ScopeID: 3, GroupIndex: 1, Tier: index.T3, Certainty: index.Inferred, Hashes: []uint64{10}},
		{Op: index.Clear},
		{Op: index.SetConfidence, Confidence: index.Confidence{Conflicts: 1, Unresolved: 2, Unbounded: 1, Degraded: "late"}},
	}
	var r changeReader
	for range 2 {
		got, err := r.read("delta.changes", in)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
	}
}

// TestReaderBoundsRepetition has messages that ask for much more than they say.
func TestReaderBoundsRepetition(t *testing.T) {
	store := func(hashes, places int) *pb.Change {
		also := make([]*pb.Place, places)
		for i := range also {
			also[i] = &pb.Place{Tier: pb.CacheTier_CACHE_TIER_T2, Certainty: pb.Certainty_CERTAINTY_ANNOUNCED}
		}
		return &pb.Change{Change: &pb.Change_Store{Store: &pb.Store{
			Certainty: pb.Certainty_CERTAINTY_ANNOUNCED, Hashes: make([]byte, 8*hashes), Also: also,
		}}}
	}
	tests := map[string]struct {
		in     []*pb.Change
		refuse bool
	}{
		"a snapshot of two tiers":    {in: []*pb.Change{store(1<<16, 1)}},
		"many hashes in many places": {in: []*pb.Change{store(1<<16, 5)}, refuse: true},
		"many places":                {in: []*pb.Change{store(0, 1<<15), store(0, 1<<15), store(0, 1)}, refuse: true},
		"a place without a tier":     {in: []*pb.Change{{Change: &pb.Change_Store{Store: &pb.Store{Also: []*pb.Place{{}}}}}}, refuse: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var r changeReader
			if _, err := r.read("delta.changes", tc.in); (err != nil) != tc.refuse {
				t.Errorf("error %v, want one: %t", err, tc.refuse)
			}
		})
	}
}

func TestReaderGivesLargeMemoryBack(t *testing.T) {
	store := func(n int) []*pb.Change {
		return []*pb.Change{{Change: &pb.Change_Store{Store: &pb.Store{Certainty: pb.Certainty_CERTAINTY_ANNOUNCED, Hashes: make([]byte, 8*n)}}}}
	}
	var r changeReader
	for _, n := range []int{keptHashes, 4 * keptHashes, 1} {
		if _, err := r.read("delta.changes", store(n)); err != nil {
			t.Fatal(err)
		}
		if cap(r.hashes) < n || cap(r.hashes) > max(n, keptHashes) {
			t.Errorf("room for %d hashes after a message of %d", cap(r.hashes), n)
		}
	}
}

func TestReadingDeltasDoesNotAllocate(t *testing.T) {
	in := []*pb.Change{{Change: &pb.Change_Store{Store: &pb.Store{Certainty: pb.Certainty_CERTAINTY_ANNOUNCED, Hashes: packed(1, 2, 3)}}}}
	var r changeReader
	if n := testing.AllocsPerRun(100, func() { _, _ = r.read("delta.changes", in) }); n > 0 {
		t.Errorf("%v allocations for a delta, want none", n)
	}
}
