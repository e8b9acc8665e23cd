/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"time"

	"inferencecache.io/inference-cache/test/bench/baseline"
)

// nestedMap returns the lookup of one chain in a nested map.
func (b *bench) nestedMap() (subject, error) {
	m, now := baseline.NewNestedMap(), time.Now()
	scope := baseline.Scope{Tenant: tenant, Model: plainModel, Scheme: scheme}
	b.populate(func(holder int, hashes []uint64) {
		m.Store(scope, holderName(holder), 1, baseline.Wire(hashes), now)
	})
	prompt := baseline.Wire(stairChains.hashes(askedChain))
	if err := b.checkScores(m.Lookup(scope, prompt, now)); err != nil {
		return subject{}, fmt.Errorf("nested map: %w", err)
	}
	return subject{processCPU, func(int) { m.Lookup(scope, prompt, now) }}, nil
}

// keyWalk returns the lookup of one chain in a key walk.
func (b *bench) keyWalk() (subject, error) {
	w := baseline.NewKeyWalk(2*b.baseline + 2*askedChain)
	b.populate(func(holder int, hashes []uint64) {
		w.Store(plainModel, holderName(holder), 1, hashes, hashes)
	})
	var candidates []string
	for i := range b.holders {
		candidates = append(candidates, holderName(i))
	}
	prompt := stairChains.hashes(askedChain)
	if err := b.checkScores(w.Lookup(plainModel, prompt, candidates)); err != nil {
		return subject{}, fmt.Errorf("key walk: %w", err)
	}
	return subject{processCPU, func(int) { w.Lookup(plainModel, prompt, candidates) }}, nil
}

// populate stores what a baseline holds: chains that nobody asks for, each on one
// of the holders, and one in the form of a stair.
func (b *bench) populate(store func(holder int, hashes []uint64)) {
	for n := range b.baseline / longChain {
		store(n%b.holders, (residentChains + chain(n)).hashes(longChain))
	}
	for k := range b.holders {
		store(k, stairChains.hashes(stairStep(k, b.holders, askedChain)))
	}
}

// checkScores fails unless every step of the stair is named, best first.
func (b *bench) checkScores(scores []baseline.Score) error {
	if len(scores) != b.holders {
		return fmt.Errorf("%d replicas, want %d", len(scores), b.holders)
	}
	for i, s := range scores {
		if want := stairStep(b.holders-1-i, b.holders, askedChain); s.Blocks != want {
			return fmt.Errorf("replica %s has %d blocks, want %d", s.Replica, s.Blocks, want)
		}
	}
	return nil
}

func holderName(i int) string { return fmt.Sprintf("%s-engine-%d", plainModel, i) }
