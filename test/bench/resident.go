/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"runtime"

	"inferencecache.io/inference-cache/pkg/index"
)

// fleet returns the resident index: chains of longChain blocks that grew step
// blocks at a time, each on one of the holders, until there were b.entries. It is
// built once and kept until release.
func (b *bench) fleet() (*fleet, error) {
	if b.resident != nil {
		return b.resident, nil
	}
	before := heap()
	f := newFleet(index.Options{})
	if _, err := f.join(plainModel, b.holders, fullGroup); err != nil {
		return nil, err
	}
	f.chains = b.entries / longChain
	if err := f.grow(growth{first: residentChains, chains: f.chains, blocks: longChain, copies: 1}, b.holders); err != nil {
		return nil, err
	}
	b.resident, b.residentBytes = f, float64(heap()-before)/float64(f.chains*longChain)
	return f, nil
}

// release lets the resident index go.
func (b *bench) release() { b.resident = nil }

// heap returns the bytes of all reachable objects.
func heap() int64 {
	var stats runtime.MemStats
	// Twice: finalizers and pools keep things for one cycle more.
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
