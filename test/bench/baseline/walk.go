/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package baseline

import "slices"

// walk is the accumulator of one lookup, by the ordinals of replicas.
type walk struct {
	pods []progress
	// active replicas have every block so far, started ones the first.
	active, started []uint16
	found           []*keyEntry
}

// progress is how far a replica has come.
type progress struct {
	// seen is the last position, counted from 1, at which the replica has a block,
	// and best the weight of the nearest tier there.
	seen      int32
	blocks    int32
	candidate bool
	best      float64
	value     float64
}

func (a *walk) reset(pods int) {
	a.pods = slices.Grow(a.pods[:0], pods)[:pods]
	clear(a.pods)
	a.active, a.started, a.found = a.active[:0], a.started[:0], a.found[:0]
}

// visit is step for a set that others may change.
func (a *walk) visit(i int32, pods *podSet) bool {
	pods.mu.Lock()
	defer pods.mu.Unlock()
	return a.step(i, pods.entries)
}

// step takes the holders of the block at position i and reports whether there is
// a replica that has all blocks up to it.
func (a *walk) step(i int32, entries []podEntry) bool {
	for _, e := range entries {
		p, weight := &a.pods[e.pod], weights[e.tier]
		if !p.candidate {
			continue
		}
		if p.seen == i+1 {
			p.best = max(p.best, weight)
			continue
		}
		p.seen, p.best = i+1, weight
		if i == 0 {
			a.started = append(a.started, e.pod)
		}
	}
	if i == 0 {
		a.active = append(a.active, a.started...)
	}
	still := a.active[:0]
	for _, pod := range a.active {
		if p := &a.pods[pod]; p.seen == i+1 {
			p.blocks++
			p.value += p.best
			still = append(still, pod)
		}
	}
	a.active = still
	return len(still) > 0
}
