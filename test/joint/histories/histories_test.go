/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package histories

import (
	"runtime/debug"
	"testing"

	"inferencecache.io/inference-cache/test/mutation"
)

const (
	// count and steps are how many histories a test plays, and how long they are.
	count = 10_000
	steps = 20
)

func TestHistories(t *testing.T) {
	// Every index has megabytes of its own from the start, and every history is
	// soon garbage: collecting it less often is half of the time.
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	var sum tally
	m := newMetrics()
	for seed := range uint64(count) {
		play(t, seed, steps, m, &sum)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d histories of %d steps: %d answers compared, %d of them hits; at the end %d holders were exact, %d had said what they lack; %d times an engine was not heard",
		sum.histories, steps, sum.probes, sum.hits, sum.converged, sum.degraded, sum.unheard)
	if sum.hits < count || sum.converged < count || sum.degraded == 0 || sum.unheard < count/10 {
		t.Error("the histories test little")
	}
}

func FuzzHistories(f *testing.F) {
	corpus := mutation.New(f, 50)
	corpus.Add(uint64(1), uint8(60))
	corpus.Fuzz(func(t *testing.T, seed uint64, steps uint8) {
		play(t, seed, int(steps), newMetrics(), &tally{})
	})
}
