/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package report

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/subscriber/mirror"
)

func TestPack(t *testing.T) {
	parent := uint64(9)
	tests := map[string]struct {
		change mirror.Change
		want   *pb.Change
	}{
		"scope": {
			mirror.ScopeDeclared{ID: 1, Adapter: "a", BlockSize: 16, Salted: true},
			&pb.Change{Change: &pb.Change_Scope{Scope: &pb.Scope{Id: 1, AdapterId: "a", BlockSize: 16, Salted: true}}},
		},
		"group": {
			mirror.GroupDeclared{Index: 2, Kind: mirror.GroupWindow, SpecKind: "sliding_window", Window: 64, BlockSize: 16},
			&pb.Change{Change: &pb.Change_Group{Group: &pb.Group{
				Index: 2, Kind: pb.GroupKind_GROUP_KIND_WINDOW, SpecKind: "sliding_window", Window: 64, BlockSize: 16,
			}}},
		},
		"store at the start": {
			mirror.Stored{Scope: 1, Group: 2, Tier: mirror.T1, Certainty: mirror.Announced, Hashes: []uint64{1, 1 << 56}},
			&pb.Change{Change: &pb.Change_Store{Store: &pb.Store{
				Scope: 1, Group: 2, Tier: pb.CacheTier_CACHE_TIER_T1, Certainty: pb.Certainty_CERTAINTY_ANNOUNCED,
				Hashes: []byte{0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0},
			}}},
		},
		"store behind a parent": {
			mirror.Stored{Tier: mirror.T3, Certainty: mirror.Possible, Parent: fingerprint.Parent{Hash: 9, Present: true}, Depth: 4, Hashes: []uint64{2}},
			&pb.Change{Change: &pb.Change_Store{Store: &pb.Store{
				Tier: pb.CacheTier_CACHE_TIER_T3, Certainty: pb.Certainty_CERTAINTY_POSSIBLE, Parent: &parent, Depth: 4,
				Hashes: []byte{0, 0, 0, 0, 0, 0, 0, 2},
			}}},
		},
		"store in several places": {
			mirror.Stored{
				Tier: mirror.T1, Certainty: mirror.Announced, Hashes: []uint64{1},
				Also: []mirror.Place{{Group: 3, Tier: mirror.T2, Certainty: mirror.Inferred}},
			},
			&pb.Change{Change: &pb.Change_Store{Store: &pb.Store{
				Tier: pb.CacheTier_CACHE_TIER_T1, Certainty: pb.Certainty_CERTAINTY_ANNOUNCED, Hashes: []byte{0, 0, 0, 0, 0, 0, 0, 1},
				Also: []*pb.Place{{Group: 3, Tier: pb.CacheTier_CACHE_TIER_T2, Certainty: pb.Certainty_CERTAINTY_INFERRED}},
			}}},
		},
		"remove": {
			mirror.Removed{Scope: 1, Group: 2, Tier: mirror.T2, Certainty: mirror.Inferred, Hashes: []uint64{3}},
			&pb.Change{Change: &pb.Change_Remove{Remove: &pb.Remove{
				Scope: 1, Group: 2, Tier: pb.CacheTier_CACHE_TIER_T2, Certainty: pb.Certainty_CERTAINTY_INFERRED,
				Hashes: []byte{0, 0, 0, 0, 0, 0, 0, 3},
			}}},
		},
		"clear": {mirror.Cleared{}, &pb.Change{Change: &pb.Change_Clear{Clear: &pb.Clear{}}}},
		"confidence": {
			mirror.ConfidenceChanged{Confidence: mirror.Confidence{Conflicts: 1, Unresolved: 2, Unbounded: 1, Degraded: "why"}},
			&pb.Change{Change: &pb.Change_Confidence{Confidence: &pb.Confidence{Conflicts: 1, Unresolved: 2, Unbounded: 1, Degraded: "why"}}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff([][]*pb.Change{{tc.want}}, slices.Collect(pack([]mirror.Change{tc.change})), protocmp.Transform()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestPackCutsLongRuns checks that a run which does not fit is the same run in
// pieces, and that no message is larger than an index takes.
func TestPackCutsLongRuns(t *testing.T) {
	run := mirror.Stored{Tier: mirror.T1, Certainty: mirror.Announced, Hashes: make([]uint64, 3*maxHashes+5)}
	for i := range run.Hashes {
		run.Hashes[i] = uint64(i) * 7
	}
	gone := mirror.Removed{Tier: mirror.T1, Certainty: mirror.Announced, Hashes: run.Hashes}
	depth, removed := 0, 0
	for i, message := range slices.Collect(pack([]mirror.Change{run, gone})) {
		if size := proto.Size(&pb.Delta{Sequence: 1, Changes: message}); size > 1<<20 {
			t.Errorf("message %d has %d bytes, want 1 MiB at most", i, size)
		}
		for _, change := range message {
			removed += len(change.GetRemove().GetHashes()) / hashBytes
			store := change.GetStore()
			if store == nil {
				continue
			}
			if int(store.GetDepth()) != depth || (store.Parent != nil) != (depth > 0) {
				t.Fatalf("piece at depth %d with parent %v, want depth %d", store.GetDepth(), store.Parent, depth)
			}
			if depth > 0 && store.GetParent() != run.Hashes[depth-1] {
				t.Fatalf("piece at depth %d continues %d, want %d", depth, store.GetParent(), run.Hashes[depth-1])
			}
			for packed := store.GetHashes(); len(packed) > 0; packed = packed[hashBytes:] {
				if got := binary.BigEndian.Uint64(packed); got != run.Hashes[depth] {
					t.Fatalf("hash %d is %d, want %d", depth, got, run.Hashes[depth])
				}
				depth++
			}
		}
	}
	if depth != len(run.Hashes) || removed != len(gone.Hashes) {
		t.Errorf("%d blocks stored and %d removed, want %d", depth, removed, len(run.Hashes))
	}
}

func TestEmptySnapshotHasOneChunk(t *testing.T) {
	chunks := slices.Collect((&Snapshot{Sequence: 3}).chunks())
	if len(chunks) != 1 || !chunks[0].GetLast() || chunks[0].GetSequence() != 3 {
		t.Errorf("chunks of nothing: %v, want a last one", chunks)
	}
}
