/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kvevents

import (
	"bytes"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/vmihailenco/msgpack/v5"
)

// list and object keep the tables short.
type (
	list   = []any
	object = map[string]any
)

// pack encodes a value with a library that has nothing to do with the decoder.
func pack(t testing.TB, value any) []byte {
	t.Helper()
	var buf bytes.Buffer
	encoder := msgpack.NewEncoder(&buf)
	encoder.UseCompactInts(true)
	encoder.SetSortMapKeys(true)
	if err := encoder.Encode(value); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// packBatch encodes a batch of the given events.
func packBatch(t testing.TB, events ...any) []byte {
	t.Helper()
	return pack(t, list{1.5, events, 0})
}

// withItems notes in an expected event how many items it was sent with.
func withItems(sent any, event Event) Event {
	if items, ok := sent.(list); ok && event.Kind != AllBlocksCleared {
		event.Items = len(items)
	}
	return event
}

func TestDecodeStored(t *testing.T) {
	hashes := list{1, uint64(math.MaxUint64)}
	wantHashes := []Hash{IntHash(1), IntHash(math.MaxUint64)}
	tokens := list{5, 300, 70_000, uint32(math.MaxUint32)}
	wantTokens := []uint32{5, 300, 70_000, math.MaxUint32}
	digest := bytes.Repeat([]byte{0xab}, 32)
	// base is what every generation says; with adds what a test is about.
	base := Event{Kind: BlockStored, Hashes: wantHashes, Parent: IntHash(9), HasParent: true, Tokens: wantTokens, BlockSize: 2}
	with := func(change func(*Event)) Event {
		event := base
		change(&event)
		return event
	}
	tests := map[string]struct {
		event any
		want  Event
	}{
		"five items": {
			event: list{"BlockStored", hashes, 9, tokens, 2},
			want:  base,
		},
		"vllm 0.9: six items": {
			event: list{"BlockStored", hashes, 9, tokens, 2, nil},
			want:  base,
		},
		"lora id": {
			event: list{"BlockStored", hashes, 9, tokens, 2, 3},
			want:  with(func(e *Event) { e.LoRAID, e.HasLoRAID = 3, true }),
		},
		"vllm 0.11: medium": {
			event: list{"BlockStored", hashes, 9, tokens, 2, nil, "GPU"},
			want:  with(func(e *Event) { e.Medium = "GPU" }),
		},
		"lora name": {
			event: list{"BlockStored", hashes, 9, tokens, 2, 1, "CPU", "sql"},
			want:  with(func(e *Event) { e.LoRAID, e.HasLoRAID, e.Medium, e.LoRAName = 1, true, "CPU", "sql" }),
		},
		"vllm 0.22: all twelve items": {
			event: list{"BlockStored", hashes, 9, tokens, 2, nil, "GPU", nil, list{list{"salt"}, nil}, 1, "sliding_window", 64},
			want: with(func(e *Event) {
				e.Medium, e.ExtraKeys = "GPU", [][]ExtraKey{{{Kind: ExtraText, Text: "salt"}}, nil}
				e.Group, e.HasGroup, e.SpecKind, e.SlidingWindow = 1, true, "sliding_window", 64
			}),
		},
		"items of the future": {
			event: list{"BlockStored", hashes, 9, tokens, 2, nil, "GPU", nil, nil, 0, "full_attention", nil, list{1, object{"a": 2}}, 7.5},
			want:  with(func(e *Event) { e.Medium, e.HasGroup, e.SpecKind = "GPU", true, "full_attention" }),
		},
		"sglang 0.5.18: a map as eighth item": {
			event: list{"BlockStored", hashes, 9, tokens, 2, nil, "GPU", object{"cache_salt": "tenant-a", "other": list{1}}},
			want:  with(func(e *Event) { e.Medium, e.CacheSalt = "GPU", "tenant-a" }),
		},
		"sequence root": {
			event: list{"BlockStored", hashes, nil, tokens, 2, nil},
			want:  with(func(e *Event) { e.Parent, e.HasParent = Hash{}, false }),
		},
		"digests": {
			event: list{"BlockStored", list{digest}, digest, tokens, 4, nil},
			want:  with(func(e *Event) { e.Hashes, e.Parent, e.BlockSize = []Hash{BytesHash(digest)}, BytesHash(digest), 4 }),
		},
		"signed hashes": {
			event: list{"BlockStored", list{int64(-1), int64(math.MinInt64)}, int64(-2), tokens, 2, nil},
			want: with(func(e *Event) {
				e.Hashes, e.Parent = []Hash{IntHash(math.MaxUint64), IntHash(1 << 63)}, IntHash(math.MaxUint64-1)
			}),
		},
		"no hashes at all": {
			event: list{"BlockStored", list{}, 9, tokens, 2, nil},
			want:  with(func(e *Event) { e.Hashes = nil }),
		},
		"map, least": {
			event: object{"type": "BlockStored", "block_hashes": hashes, "parent_block_hash": 9, "token_ids": tokens, "block_size": 2},
			want:  base,
		},
		"map, all of vllm": {
			event: object{
				"type": "BlockStored", "block_hashes": hashes, "parent_block_hash": 9, "token_ids": tokens, "block_size": 2,
				"lora_id": 1, "medium": "STORAGE", "lora_name": "sql", "extra_keys": list{nil, list{list{"img", 7}}},
				"group_idx": 2, "kv_cache_spec_kind": "mamba", "kv_cache_spec_sliding_window": 128,
				"locality": "REMOTE", "ownership": "shared", "session_id": "s", "event_version": 3, "block_offsets": list{1},
			},
			want: with(func(e *Event) {
				e.LoRAID, e.HasLoRAID, e.Medium, e.LoRAName = 1, true, "STORAGE", "sql"
				e.ExtraKeys = [][]ExtraKey{nil, {{Kind: ExtraOffset, Text: "img", Int: 7}}}
				e.Group, e.HasGroup, e.SpecKind, e.SlidingWindow = 2, true, "mamba", 128
				e.Locality, e.Ownership, e.SessionID = "REMOTE", "shared", "s"
			}),
		},
		"map, all of sglang": {
			event: object{
				"type": "BlockStored", "block_hashes": hashes, "parent_block_hash": 9, "token_ids": tokens, "block_size": 2,
				"lora_id": nil, "medium": "CPU_PINNED", "cache_salt": "t", "session_id": "s", "lora_name": "a",
			},
			want: with(func(e *Event) { e.Medium, e.CacheSalt, e.SessionID, e.LoRAName = "CPU_PINNED", "t", "s", "a" }),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var decoder Decoder
			batch, err := decoder.Decode(packBatch(t, tc.event))
			if err != nil {
				t.Fatal(err)
			}
			want := &Batch{Timestamp: 1.5, HasRank: true, Events: []Event{withItems(tc.event, tc.want)}}
			if diff := cmp.Diff(want, batch, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("batch (-want +got):\n%s", diff)
			}
		})
	}
}

// tagLast is a map whose tag comes after its fields; a Go map cannot say so.
type tagLast struct {
	BlockHashes []int  `msgpack:"block_hashes"`
	Medium      string `msgpack:"medium"`
	Type        string `msgpack:"type"`
}

func TestDecodeOtherEvents(t *testing.T) {
	removed := Event{Kind: BlockRemoved, Hashes: []Hash{IntHash(1), IntHash(2)}}
	with := func(change func(*Event)) Event {
		event := removed
		change(&event)
		return event
	}
	tests := map[string]struct {
		event any
		want  Event
	}{
		"removed, two items":  {list{"BlockRemoved", list{1, 2}}, removed},
		"removed, medium":     {list{"BlockRemoved", list{1, 2}, "DISK"}, with(func(e *Event) { e.Medium = "DISK" })},
		"removed, nil medium": {list{"BlockRemoved", list{1, 2}, nil}, removed},
		"removed, group":      {list{"BlockRemoved", list{1, 2}, "GPU", 1, "more"}, with(func(e *Event) { e.Medium, e.Group, e.HasGroup = "GPU", 1, true })},
		"removed, map":        {object{"type": "BlockRemoved", "block_hashes": list{1, 2}}, removed},
		"removed, tag last":   {tagLast{[]int{1, 2}, "CPU", "BlockRemoved"}, with(func(e *Event) { e.Medium = "CPU" })},
		"removed, full map": {object{"type": "BlockRemoved", "block_hashes": list{1, 2}, "medium": "GPU", "group_idx": 0, "locality": "LOCAL", "ownership": "o", "remaining_copy_counts": list{0, 2}}, with(func(e *Event) {
			e.Medium, e.HasGroup, e.Locality, e.Ownership, e.RemainingCopies = "GPU", true, "LOCAL", "o", []int64{0, 2}
		})},
		"removed, wrong count": {object{"type": "BlockRemoved", "block_hashes": list{1, 2}, "remaining_copy_counts": list{0}}, removed},
		"removed, nil counts":  {object{"type": "BlockRemoved", "block_hashes": list{1, 2}, "remaining_copy_counts": nil}, removed},
		"removed, other field": {object{"type": "BlockRemoved", "block_hashes": list{1, 2}, "token_ids": "text"}, removed},
		"cleared":              {list{"AllBlocksCleared"}, Event{Kind: AllBlocksCleared}},
		"cleared, items":       {list{"AllBlocksCleared", "GPU", list{}}, Event{Kind: AllBlocksCleared}},
		"cleared, map":         {object{"type": "AllBlocksCleared"}, Event{Kind: AllBlocksCleared}},
		"cleared, fields":      {object{"type": "AllBlocksCleared", "medium": 7}, Event{Kind: AllBlocksCleared}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var decoder Decoder
			batch, err := decoder.Decode(packBatch(t, tc.event))
			if err != nil {
				t.Fatal(err)
			}
			want := &Batch{Timestamp: 1.5, HasRank: true, Events: []Event{withItems(tc.event, tc.want)}}
			if diff := cmp.Diff(want, batch, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("batch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeExtraKeys(t *testing.T) {
	tests := map[string]struct {
		keys any
		want [][]ExtraKey
	}{
		"absent":            {nil, nil},
		"none on any block": {list{nil, nil}, [][]ExtraKey{nil, nil}},
		"empty list":        {list{list{}}, [][]ExtraKey{nil}},
		"adapter and salt":  {list{list{"lora-a", "s1"}, list{"lora-a"}}, [][]ExtraKey{{{Kind: ExtraText, Text: "lora-a"}, {Kind: ExtraText, Text: "s1"}}, {{Kind: ExtraText, Text: "lora-a"}}}},
		"bytes":             {list{list{[]byte{1, 2}}}, [][]ExtraKey{{{Kind: ExtraBytes, Bytes: []byte{1, 2}}}}},
		"numbers":           {list{list{7, -7}}, [][]ExtraKey{{{Kind: ExtraInt, Int: 7}, {Kind: ExtraInt, Int: -7}}}},
		"pair":              {list{list{list{"img", -3}}}, [][]ExtraKey{{{Kind: ExtraOffset, Text: "img", Int: -3}}}},
		"not a pair":        {list{list{list{"img"}}}, [][]ExtraKey{{{Kind: ExtraRaw, Bytes: []byte("\x91\xa3img")}}}},
		"pair of numbers":   {list{list{list{1, 2}}}, [][]ExtraKey{{{Kind: ExtraRaw, Bytes: []byte("\x92\x01\x02")}}}},
		"nothing":           {list{list{nil}}, [][]ExtraKey{{{Kind: ExtraRaw, Bytes: []byte("\xc0")}}}},
		"large number":      {list{list{uint64(math.MaxUint64)}}, [][]ExtraKey{{{Kind: ExtraRaw, Bytes: []byte("\xcf\xff\xff\xff\xff\xff\xff\xff\xff")}}}},
		"no UTF-8":          {list{list{"\xff"}}, [][]ExtraKey{{{Kind: ExtraRaw, Bytes: []byte("\xa1\xff")}}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var decoder Decoder
			event := list{"BlockStored", list{1}, nil, list{1}, 1, nil, nil, nil, tc.keys}
			batch, err := decoder.Decode(packBatch(t, event))
			if err != nil || len(batch.Events) != 1 {
				t.Fatalf("batch %+v, error %v", batch, err)
			}
			if diff := cmp.Diff(tc.want, batch.Events[0].ExtraKeys); diff != "" {
				t.Errorf("extra keys (-want +got):\n%s", diff)
			}
		})
	}
}
