/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	"inferencecache.io/inference-cache/pkg/kvevents"
)

// TestChanges pins what exactly is reported after the last of some batches.
func TestChanges(t *testing.T) {
	c := chain("", 1, 2, 3)
	scope := ScopeDeclared{ID: 0, BlockSize: testBlock}
	group := GroupDeclared{Index: 0, Kind: GroupFull, BlockSize: testBlock}
	after := func(hash uint64) fingerprint.Parent { return fingerprint.Parent{Hash: hash, Present: true} }
	first := stored(hashes(1, 2), blocks(1, 2))
	tests := map[string]struct {
		opts    Options
		batches batches
		want    []Change
	}{
		"declarations precede the first use": {
			batches: batches{one(first)},
			want:    []Change{group, scope, Stored{Tier: T1, Certainty: Announced, Hashes: c[:2]}},
		},
		"one run for one chain": {
			batches: batches{one(first), one(stored(hashes(3), blocks(3), parent(2)))},
			want:    []Change{Stored{Tier: T1, Certainty: Announced, Parent: after(c[1]), Depth: 2, Hashes: c[2:]}},
		},
		"two events, one run": {
			batches: batches{one(), one(first, stored(hashes(3), blocks(3), parent(2)))},
			want:    []Change{group, scope, Stored{Tier: T1, Certainty: Announced, Hashes: c}},
		},
		"a second copy is no news": {
			batches: batches{one(first), one(first)},
		},
		"what comes and goes is no news": {
			batches: batches{one(first), one(stored(hashes(3), blocks(3), parent(2)), removed(hashes(3)))},
		},
		"removals are joined": {
			batches: batches{one(first), one(removed(hashes(2)), removed(hashes(1)))},
			want:    []Change{Removed{Tier: T1, Certainty: Announced, Hashes: []uint64{c[1], c[0]}}},
		},
		"removals come first": {
			batches: batches{one(first), one(stored(hashes(3), blocks(3), parent(2)), removed(hashes(1)))},
			want: []Change{
				Removed{Tier: T1, Certainty: Announced, Hashes: c[:1]},
				Stored{Tier: T1, Certainty: Announced, Parent: after(c[1]), Depth: 2, Hashes: c[2:]},
			},
		},
		"a clear keeps what is declared": {
			batches: batches{one(first), one(cleared(), stored(hashes(1), blocks(1)))},
			want:    []Change{Cleared{}, Stored{Tier: T1, Certainty: Announced, Hashes: c[:1]}},
		},
		"parked blocks are counted, not shown": {
			batches: batches{one(stored(hashes(2, 3), blocks(2, 3), parent(1)))},
			want:    []Change{group, ConfidenceChanged{Confidence{Unresolved: 2, Unbounded: 2}}},
		},
		"a conflict is counted": {
			batches: batches{one(first), one(stored(hashes(11), blocks(1)))},
			want:    []Change{ConfidenceChanged{Confidence{Conflicts: 1}}},
		},
		"what is ambiguous is possible": {
			batches: batches{one(first), one(stored(hashes(11), blocks(1))), one(removed(hashes(1)))},
			want: []Change{
				Removed{Tier: T1, Certainty: Announced, Hashes: c[:1]},
				Stored{Tier: T1, Certainty: Possible, Hashes: c[:1]},
			},
		},
		"what is kept is inferred": {
			opts:    Options{KeepRemoved: true},
			batches: batches{one(first), one(removed(hashes(1)))},
			want: []Change{
				Removed{Tier: T1, Certainty: Announced, Hashes: c[:1]},
				Stored{Tier: T2, Certainty: Inferred, Hashes: c[:1]},
			},
		},
		"a salted chain starts without parent": {
			batches: batches{one(first), one(stored(hashes(21), blocks(1), keys(text("s"))))},
			want: []Change{
				ScopeDeclared{ID: 1, BlockSize: testBlock, Salted: true},
				Stored{Scope: 1, Tier: T1, Certainty: Announced, Hashes: chain("s", 1)},
			},
		},
		"a malformed event degrades": {
			batches: batches{one(first), one(stored(hashes(3), blocks(3, 4), parent(2)))},
			want:    []Change{ConfidenceChanged{Confidence{Degraded: "the engine sent events that contradict themselves"}}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(tc.opts)
			var got []Change
			for _, events := range tc.batches {
				got = r.send(t, events...)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestGroupsKeepTheirKind refuses events that contradict what a group is: an index
// could not follow them.
func TestGroupsKeepTheirKind(t *testing.T) {
	tests := map[string]kvevents.Event{
		"another kind":         stored(hashes(5), blocks(5), inWindow(0, 8)),
		"another block size":   stored(hashes(5), blocks(5), size(2)),
		"a group out of range": stored(hashes(5), blocks(5), inGroup(64)),
		"a huge block":         stored(hashes(5), blocks(5), inGroup(1), size(2<<20)),
	}
	for name, ev := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(Options{})
			r.send(t, stored(hashes(1), blocks(1), inGroup(0), spec("full_attention")))
			r.send(t, ev)
			if got := r.Stats().Malformed; got != 1 {
				t.Errorf("%d malformed events, want 1", got)
			}
			if tokens, _ := r.holder.lookup(prompt{tokens: promptOf(1)}); tokens != testBlock {
				t.Errorf("the other blocks answer %d tokens, want %d", tokens, testBlock)
			}
		})
	}
}
