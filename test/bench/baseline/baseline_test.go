/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package baseline

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// lookups are the two indexes behind one face.
type lookups struct {
	nested *NestedMap
	walk   *KeyWalk
	now    time.Time
}

var scope = Scope{Tenant: "team", Model: "llama", Scheme: "vllm"}

func newLookups(capacity int) *lookups {
	return &lookups{nested: NewNestedMap(), walk: NewKeyWalk(capacity), now: time.Unix(1000, 0)}
}

func (l *lookups) store(replica string, tier uint8, hashes ...uint64) {
	l.nested.Store(scope, replica, tier, Wire(hashes), l.now)
	l.walk.Store(scope.Model, replica, tier, hashes, hashes)
}

func TestLookup(t *testing.T) {
	tests := map[string]struct {
		store func(*lookups)
		chain []uint64
		want  []Score
	}{
		"nothing": {store: func(*lookups) {}, chain: []uint64{1}, want: []Score{}},
		"a stair, longest first": {
			store: func(l *lookups) {
				l.store("b", 1, 1)
				l.store("a", 1, 1, 2)
				l.store("c", 1, 1, 2, 3)
			},
			chain: []uint64{1, 2, 3, 4},
			want:  []Score{{"c", 3, 3}, {"a", 2, 2}, {"b", 1, 1}},
		},
		"what lies behind a hole does not count": {
			store: func(l *lookups) { l.store("a", 1, 1, 3) },
			chain: []uint64{1, 2, 3},
			want:  []Score{{"a", 1, 1}},
		},
		"nor what lacks the first block": {
			store: func(l *lookups) {
				l.store("a", 1, 2, 3)
				l.store("b", 1, 1, 2)
			},
			chain: []uint64{1, 2, 3},
			want:  []Score{{"b", 2, 2}},
		},
		"blocks come again": {
			store: func(l *lookups) {
				l.store("a", 1, 1, 2)
				l.store("a", 1, 2, 1)
			},
			chain: []uint64{1, 2},
			want:  []Score{{"a", 2, 2}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLookups(100)
			tc.store(l)
			if diff := cmp.Diff(tc.want, l.nested.Lookup(scope, Wire(tc.chain), l.now)); diff != "" {
				t.Errorf("nested map (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.want, l.walk.Lookup(scope.Model, tc.chain, []string{"a", "b", "c", "d"})); diff != "" {
				t.Errorf("key walk (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNestedMapForgetsOldEntries(t *testing.T) {
	l := newLookups(100)
	l.store("a", 1, 1)
	if got := l.nested.Lookup(scope, Wire([]uint64{1}), l.now.Add(freshness+1)); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

func TestNestedMapWeighsByColdestTier(t *testing.T) {
	l := newLookups(100)
	l.store("a", 1, 1)
	l.store("a", 2, 2)
	want := []Score{{"a", 2, 2 * weights[2]}}
	if diff := cmp.Diff(want, l.nested.Lookup(scope, Wire([]uint64{1, 2}), l.now)); diff != "" {
		t.Errorf("scores (-want +got):\n%s", diff)
	}
}

func TestKeyWalkTakesNearestTier(t *testing.T) {
	l := newLookups(100)
	l.store("a", 2, 1, 2)
	l.store("a", 1, 2)
	want := []Score{{"a", 2, weights[2] + weights[1]}}
	if diff := cmp.Diff(want, l.walk.Lookup(scope.Model, []uint64{1, 2}, []string{"a"})); diff != "" {
		t.Errorf("scores (-want +got):\n%s", diff)
	}
}

func TestKeyWalkAnswersForCandidates(t *testing.T) {
	l := newLookups(100)
	for i := range 3 {
		l.store(fmt.Sprint("replica-", i), 1, 1)
	}
	want := []Score{{"replica-1", 1, 1}}
	if diff := cmp.Diff(want, l.walk.Lookup(scope.Model, []uint64{1}, []string{"replica-1", "unheard-of"})); diff != "" {
		t.Errorf("scores (-want +got):\n%s", diff)
	}
}

func TestKeyWalkForgetsWhatWasUsedLongestAgo(t *testing.T) {
	l := newLookups(2)
	l.store("a", 1, 1, 2)
	if got := l.walk.Lookup(scope.Model, []uint64{1}, []string{"a"}); len(got) != 1 {
		t.Fatalf("got %v", got)
	}
	l.store("a", 1, 3) // 2 goes, because 1 has been asked for
	for hash, want := range map[uint64]int{1: 1, 2: 0, 3: 1} {
		if got := l.walk.Lookup(scope.Model, []uint64{hash}, []string{"a"}); len(got) != want {
			t.Errorf("block %d: got %v, want %d replicas", hash, got, want)
		}
	}
}
