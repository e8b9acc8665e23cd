/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"encoding/binary"
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
