/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import (
	"runtime"
	"testing"
	"unsafe"

	"inferencecache.io/inference-cache/pkg/kvevents"
)

// footprint is the memory that a mirror holds for its blocks, in bytes.
func (m *Mirror) footprint() int {
	return len(m.blocks.chunks)*int(unsafe.Sizeof([chunkBlocks]block{})+unsafe.Sizeof(&block{})) +
		(len(m.hashes.buckets)+len(m.contents.buckets))*int(unsafe.Sizeof(bucket{})) +
		(cap(m.ghosts.queue)+cap(m.dirty)+cap(m.learned))*int(unsafe.Sizeof(laneRef{}))
}

// heap returns the bytes in use after a collection.
func heap() int {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}

// TestFootprint holds the memory of a block with one copy in one full group to 40
// bytes, at a million blocks and at every size on the way there, also right after
// the tables have grown.
func TestFootprint(t *testing.T) {
	const limit, blocks, perStore, settled = 40, 1 << 20, 64, 1 << 17
	before := heap()
	m := New(Options{})
	worst, worstAt := 0.0, 0
	store := kvevents.Event{Kind: kvevents.BlockStored, BlockSize: 1, Hashes: make([]kvevents.Hash, perStore), Tokens: make([]uint32, perStore)}
	for n := 0; n < blocks; {
		for i := range perStore {
			store.Hashes[i], store.Tokens[i] = kvevents.IntHash(uint64(n+i)*0x9e3779b97f4a7c15), uint32(n+i)
		}
		m.Apply(&kvevents.Batch{Events: []kvevents.Event{store}})
		n += perStore
		if each := float64(m.footprint()) / float64(n); n >= settled && each > worst {
			worst, worstAt = each, n
		}
	}
	measured := float64(heap()-before) / blocks
	t.Logf("%.1f bytes a block at %d blocks, %.1f at most (at %d)", measured, blocks, worst, worstAt)
	if measured > limit || worst > limit {
		t.Errorf("want %d bytes a block at most", limit)
	}
	if s := m.Stats(); s.Known != blocks || s.Contents != blocks || len(m.special)+len(m.parked)+len(m.many)+len(m.parents) > 0 {
		t.Errorf("stats %+v; want %d ordinary blocks", s, blocks)
	}
	runtime.KeepAlive(m)
}
