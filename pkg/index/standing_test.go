/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import "testing"

func TestStandings(t *testing.T) {
	x := New(Options{WarmUp: -1}, start)
	var stream Stream
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	steps := []struct {
		name    string
		do      func()
		changes bool
	}{
		{"a new holder", func() {
			opened, _, err := x.Open(helloOf("a", 1), start)
			must(err)
			stream = opened
		}, true},
		{"its blocks", func() {
			_, err := x.Delta(stream, 1, append(declare(fullGroup), Change{Op: Store, Hashes: []uint64{1, 2}}), start, start)
			must(err)
		}, false},
		{"statistics", func() { must(x.SetStats(stream, Stats{})) }, true},
		{"a heartbeat", func() {
			_, err := x.Heartbeat(stream, 1)
			must(err)
		}, false},
		{"a lost stream", func() { x.Close(stream, start) }, true},
		{"nothing to expire", func() { x.Expire(start) }, false},
		{"the end of the lease", func() { x.Expire(start.Add(DefaultLease)) }, true},
	}
	for _, step := range steps {
		before := x.Standings()
		step.do()
		if got := x.Standings() != before; got != step.changes {
			t.Errorf("%s: changed %t, want %t", step.name, got, step.changes)
		}
	}
}
