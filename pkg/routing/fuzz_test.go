/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"encoding/binary"
	"math"
	"testing"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/test/mutation"
)

// FuzzRoute asks for any tokens and any chain, of which an engine holds some
// blocks, and compares the answer with a count of the leading blocks that are held.
func FuzzRoute(f *testing.F) {
	corpus := mutation.New(f, 1000)
	words := func(n, step int) []byte {
		var raw []byte
		for i := range n {
			raw = binary.LittleEndian.AppendUint32(raw, uint32(i*step))
		}
		return raw
	}
	corpus.Add(words(64, 1), uint8(3), false, "", int32(0), int8(0))
	corpus.Add(words(80, 1), uint8(5), true, "", int32(80), int8(1))
	corpus.Add(words(64, 0), uint8(2), false, "pepper", int32(-1), int8(-1))
	corpus.Add([]byte{1, 2, 3}, uint8(0), true, "", int32(16), int8(16))
	corpus.Fuzz(func(t *testing.T, raw []byte, held uint8, byChain bool, salt string, promptTokens int32, count int8) {
		ids := make([]uint32, len(raw)/4)
		for i := range ids {
			ids[i] = binary.LittleEndian.Uint32(raw[4*i:])
		}
		chain := fingerprint.Chain(nil, fingerprint.SaltParent(salt), ids, blockSize)
		n := min(int(held), len(chain))
		fleet := newFleet(t).engine("a").holds("a", index.T1, index.Announced, chain[:n])

		r := Request{Tokens: ids, Salt: salt}
		want := n
		if len(ids) > 0 {
			want = min(n, (len(ids)-1)/blockSize)
		}
		if byChain && len(chain) > 0 {
			r = Request{Chain: chain, PromptTokens: int(promptTokens)}
			want = n
			if promptTokens > 0 {
				want = min(n, int(promptTokens-1)/blockSize)
			}
			if count != 0 {
				r.ChainCounts = make([]int32, len(chain))
				for i := range r.ChainCounts {
					r.ChainCounts[i] = int32(count)
				}
			}
		}
		got := fleet.route(r)
		if len(r.ChainCounts) > 0 && count < 0 {
			if got.Reason != NoHint || got.Explanation == "" {
				t.Fatalf("negative counts were answered with %+v", got)
			}
			return
		}
		size := blockSize
		if len(r.ChainCounts) > 0 {
			size = int(count)
		}
		matched := 0
		if got.Reason == PrefixMatch {
			matched = got.Replicas[0].Tokens
		}
		if matched != want*size {
			t.Fatalf("%s: matched %d tokens of %d, want %d blocks of %d", got.Reason, matched, len(ids), want, size)
		}
	})
}

// FuzzPolicy asks two engines under any policy and holds what the policy asks for
// against the answer.
func FuzzPolicy(f *testing.F) {
	corpus := mutation.New(f, 1000)
	corpus.Add(uint16(96), uint8(6), uint8(3), int32(0), int32(0), int32(0), uint8(0), uint8(0), int64(3), int64(0))
	corpus.Add(uint16(160), uint8(9), uint8(1), int32(64), int32(32), int32(2500), uint8(0b111), uint8(1), int64(0), int64(9))
	corpus.Add(uint16(40), uint8(2), uint8(2), int32(1000), int32(-1), int32(-3000), uint8(0b11010), uint8(2), int64(1)<<47, int64(5))
	corpus.Fuzz(func(t *testing.T, length uint16, first, second uint8, minimumPrefix, minimumMatched, milliFloor int32, switches, topK uint8, waits, runs int64) {
		ids, chain := prompt(1, uint32(length%4096))
		floor := float64(milliFloor) / 1000
		held := func(n uint8) []uint64 { return chain[:min(int(n), len(chain))] }
		p := Policy{
			MinimumPrefixTokens: int(minimumPrefix), MinimumMatchedTokens: int(minimumMatched), FloorScore: floor,
			HasFloor: switches&1 != 0, IgnoreChains: switches&2 != 0, NoTenantHot: switches&4 != 0, NoAffinity: switches&8 != 0,
		}
		fleet := newFleet(t).engine("a").engine("b").under(p).
			holds("a", index.T1, index.Announced, held(first)).holds("b", index.T3, index.Inferred, held(second)).
			reports("a", index.Stats{Time: start, Running: &runs, Waiting: &waits})
		r := Request{Tokens: ids, TopK: int(topK)}
		if switches&16 != 0 && len(chain) > 0 {
			r = Request{Chain: chain, TopK: int(topK)}
		}
		got := fleet.route(r)
		if topK > 0 && len(got.Replicas) > int(topK) {
			t.Fatalf("%d replicas, at most %d were wanted", len(got.Replicas), topK)
		}
		if got.Reason != PrefixMatch {
			if (got.Reason == AffinityHint && p.NoAffinity) || (got.Reason == TenantHot && p.NoTenantHot) {
				t.Fatalf("%s although it is switched off", got.Reason)
			}
			return
		}
		best := got.Replicas[0]
		if best.Tokens < p.MinimumPrefixTokens && len(got.Replicas) == 1 && topK != 1 {
			t.Fatalf("the only match of %d tokens is below the floor of %d", best.Tokens, p.MinimumPrefixTokens)
		}
		if p.HasFloor && best.Score < floor {
			t.Fatalf("score %v is below the floor of %v", best.Score, floor)
		}
		for i, replica := range got.Replicas {
			if replica.Tokens < p.MinimumMatchedTokens || math.IsNaN(replica.Score) || replica.Score > got.Replicas[max(i-1, 0)].Score*(1+1e-6)+1e-6 && replica.Score > 0 {
				t.Fatalf("replica %d does not belong there: %+v", i, got.Replicas)
			}
		}
	})
}
