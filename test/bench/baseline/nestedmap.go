/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package baseline

import (
	"encoding/binary"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Scope is what hashes are looked up in besides their value.
type Scope struct {
	Tenant, Model, Scheme, Adapter string
}

// Score is how well one replica serves a chain.
type Score struct {
	Replica string
	// Blocks that the replica has from the start of the chain on.
	Blocks int
	// Value grows with the blocks and shrinks with the distance of their tiers.
	Value float64
}

// freshness is how long an entry of a NestedMap is believed after it was seen.
const freshness = 30 * time.Minute

// weights of the tiers in a score, nearest first.
var weights = [4]float64{1, 1, 0.8, 0.5}

// blockKey names a block of a scope. The hash is kept as the bytes that came in.
type blockKey struct {
	Scope

	hash string
}

// storageEntry is what is known of one block on one replica.
type storageEntry struct {
	seen time.Time
	tier uint8
	uses atomic.Int64
}

// NestedMap is an index of the form block → replica → entry. Make one with
// NewNestedMap.
type NestedMap struct {
	mu       sync.RWMutex
	blocks   map[blockKey]map[string]*storageEntry
	replicas map[Scope]map[string]int
}

// NewNestedMap returns an empty index.
func NewNestedMap() *NestedMap {
	return &NestedMap{blocks: map[blockKey]map[string]*storageEntry{}, replicas: map[Scope]map[string]int{}}
}

// Store adds blocks of a replica, seen now.
func (m *NestedMap) Store(scope Scope, replica string, tier uint8, hashes [][]byte, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	counts := m.replicas[scope]
	if counts == nil {
		counts = map[string]int{}
		m.replicas[scope] = counts
	}
	for _, hash := range hashes {
		key := blockKey{Scope: scope, hash: string(hash)}
		holders := m.blocks[key]
		if holders == nil {
			holders = map[string]*storageEntry{}
			m.blocks[key] = holders
		}
		if e := holders[replica]; e != nil {
			e.seen, e.tier = now, tier
			continue
		}
		holders[replica] = &storageEntry{seen: now, tier: tier}
		counts[replica]++
	}
}

// run is how far a replica has followed a chain.
type run struct {
	blocks  int
	coldest uint8
}

// Lookup returns the replicas that have the first block of a chain, best first.
func (m *NestedMap) Lookup(scope Scope, chain [][]byte, now time.Time) []Score {
	m.mu.RLock()
	defer m.mu.RUnlock()
	ended := map[string]run{}
	var running map[string]run
	for i, hash := range chain {
		holders := m.blocks[blockKey{Scope: scope, hash: string(hash)}]
		next := make(map[string]run, len(running))
		for replica, e := range holders {
			if now.Sub(e.seen) > freshness {
				continue
			}
			before, ok := running[replica]
			if i > 0 && !ok {
				continue
			}
			e.uses.Add(1)
			next[replica] = run{blocks: i + 1, coldest: max(before.coldest, e.tier)}
		}
		if len(next) < len(running) {
			for replica, r := range running {
				if _, ok := next[replica]; !ok {
					ended[replica] = r
				}
			}
		}
		running = next
		if len(running) == 0 {
			break
		}
	}
	maps.Copy(ended, running)
	return rank(ended)
}

// rank orders replicas by score.
func rank(runs map[string]run) []Score {
	scores := make([]Score, 0, len(runs))
	for replica, r := range runs {
		scores = append(scores, Score{Replica: replica, Blocks: r.blocks, Value: float64(r.blocks) * weights[r.coldest]})
	}
	slices.SortFunc(scores, compareScores)
	return scores
}

// Wire returns hashes as the bytes that a caller sends.
func Wire(hashes []uint64) [][]byte {
	out := make([][]byte, len(hashes))
	for i, hash := range hashes {
		out[i] = binary.BigEndian.AppendUint64(nil, hash)
	}
	return out
}
