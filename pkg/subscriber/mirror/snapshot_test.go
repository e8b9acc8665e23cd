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

// checkSnapshot compares the snapshot with the sum of all changes.
func (r *rig) checkSnapshot(t testing.TB) {
	t.Helper()
	fresh := newHolder()
	if err := fresh.apply(r.Snapshot()); err != nil {
		t.Fatalf("snapshot: %v", err)
	}
	// Comparing is much cheaper than describing a difference.
	if !reflect.DeepEqual(r.holder, fresh) {
		t.Fatalf("the snapshot (+) differs from the changes (-):\n%s", cmp.Diff(r.holder, fresh, cmp.AllowUnexported(holder{})))
	}
}

func TestSnapshotJoinsRuns(t *testing.T) {
	r := newRig(Options{})
	r.send(t, stored([]uint64{1, 2, 3}, []uint32{1, 2, 3}))
	r.send(t, stored([]uint64{4}, []uint32{4}, parent(3)))
	r.send(t, stored([]uint64{5, 6}, []uint32{5, 6}, parent(2)))
	runs, blocks := 0, 0
	for _, change := range r.Snapshot() {
		if run, ok := change.(Stored); ok {
			runs++
			blocks += len(run.Hashes)
		}
	}
	if runs != 2 || blocks != 6 {
		t.Errorf("%d blocks in %d runs, want 6 blocks in one run for each of 2 branches", blocks, runs)
	}
	if diff := cmp.Diff(r.Snapshot(), r.Snapshot()); diff != "" {
		t.Errorf("two snapshots of one state differ:\n%s", diff)
	}
}

func TestSnapshotOfNothing(t *testing.T) {
	want := []Change{ConfidenceChanged{}}
	if diff := cmp.Diff(want, New(Options{}).Snapshot()); diff != "" {
		t.Errorf("snapshot of an empty mirror (-want +got):\n%s", diff)
	}
}
