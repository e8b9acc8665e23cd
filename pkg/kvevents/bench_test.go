/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kvevents

import (
	"fmt"
	"testing"
	"time"

	"github.com/vmihailenco/msgpack/v5"
)

// benchmarkTokens is the number of tokens of a block.
const benchmarkTokens = 32

// benchmarkEvent is a store as vLLM 0.32 sends it, tag first, and for a
// reflecting library to decode into.
type benchmarkEvent struct {
	Type        string     `msgpack:"type"`
	BlockHashes []uint64   `msgpack:"block_hashes"`
	Parent      *uint64    `msgpack:"parent_block_hash"`
	TokenIDs    []uint32   `msgpack:"token_ids"`
	BlockSize   int        `msgpack:"block_size"`
	LoRAID      *int       `msgpack:"lora_id"`
	Medium      string     `msgpack:"medium"`
	LoRAName    *string    `msgpack:"lora_name"`
	ExtraKeys   [][]string `msgpack:"extra_keys"`
	Group       *int       `msgpack:"group_idx"`
	SpecKind    string     `msgpack:"kv_cache_spec_kind"`
}

// benchmarkPayload is a batch in which vLLM stores n blocks of one prompt.
func benchmarkPayload(b *testing.B, n int) []byte {
	b.Helper()
	parent, group := uint64(12345678901234567890), 0
	event := benchmarkEvent{
		Type: "BlockStored", BlockHashes: make([]uint64, n), Parent: &parent, TokenIDs: make([]uint32, n*benchmarkTokens),
		BlockSize: benchmarkTokens, Medium: "GPU", ExtraKeys: make([][]string, n), Group: &group, SpecKind: "full_attention",
	}
	for i := range event.BlockHashes {
		event.BlockHashes[i] = uint64(0x9e3779b97f4a7c15) * uint64(i+1)
	}
	for i := range event.TokenIDs {
		event.TokenIDs[i] = uint32(i*7919) % 150_000
	}
	return packBatch(b, event)
}

func BenchmarkDecode(b *testing.B) {
	for _, blocks := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("blocks=%d", blocks), func(b *testing.B) {
			payload := benchmarkPayload(b, blocks)
			var decoder Decoder
			b.SetBytes(int64(len(payload)))
			b.ReportAllocs()
			for b.Loop() {
				batch, err := decoder.Decode(payload)
				if err != nil || len(batch.Events) != 1 {
					b.Fatalf("batch %+v, error %v", batch, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(blocks), "ns/block")
		})
	}
}

// BenchmarkDecodeRatio decodes the same payload with this package and with a
// reflecting library in turn, so that the ratio of the two holds on any machine,
// however busy.
func BenchmarkDecodeRatio(b *testing.B) {
	type batch struct {
		_msgpack  struct{} `msgpack:",as_array"` //nolint:unused // read by the library
		Timestamp float64
		Events    []benchmarkEvent
		Rank      int
	}
	const rounds = 32
	for _, blocks := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("blocks=%d", blocks), func(b *testing.B) {
			payload := benchmarkPayload(b, blocks)
			var decoder Decoder
			var ours, theirs time.Duration
			for b.Loop() {
				start := time.Now()
				for range rounds {
					if _, err := decoder.Decode(payload); err != nil {
						b.Fatal(err)
					}
				}
				middle := time.Now()
				for range rounds {
					var decoded batch
					if err := msgpack.Unmarshal(payload, &decoded); err != nil {
						b.Fatal(err)
					}
				}
				ours, theirs = ours+middle.Sub(start), theirs+time.Since(middle)
			}
			b.ReportMetric(float64(theirs)/float64(ours), "times-faster")
			b.ReportMetric(0, "ns/op")
		})
	}
}
