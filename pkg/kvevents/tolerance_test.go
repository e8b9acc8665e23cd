/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kvevents

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOneBadEvent puts each bad event between two good ones, which have to come
// through.
func TestOneBadEvent(t *testing.T) {
	stored := func(change func(list)) list {
		event := list{"BlockStored", list{1}, nil, list{1, 2}, 2, nil, "GPU"}
		change(event)
		return event
	}
	tests := map[string]struct {
		event     any
		malformed int
	}{
		"unknown tag":            {list{"BlockMoved", list{1}, object{"a": list{1, 2}}}, 0},
		"unknown tag in a map":   {object{"type": "BlockMoved", "block_hashes": "x"}, 0},
		"no tag":                 {object{"block_hashes": list{1}}, 0},
		"tag is no string":       {list{7, list{1}}, 0},
		"tag is bytes":           {list{[]byte("BlockStored"), list{1}}, 0},
		"empty array":            {list{}, 0},
		"empty map":              {object{}, 0},
		"nil":                    {nil, 0},
		"number":                 {7, 0},
		"text":                   {"BlockStored", 0},
		"keys that are numbers":  {map[int]int{1: 2}, 0},
		"too few items":          {list{"BlockStored", list{1}, nil, list{1}}, 1},
		"removed without hashes": {list{"BlockRemoved"}, 1},
		"no parent in a map":     {object{"type": "BlockStored", "block_hashes": list{1}, "token_ids": list{1}, "block_size": 1}, 1},
		"hashes are text":        {stored(func(e list) { e[1] = "1" }), 1},
		"hash is a float":        {stored(func(e list) { e[1] = list{1.5} }), 1},
		"hash is nil":            {stored(func(e list) { e[1] = list{nil} }), 1},
		"hash is empty":          {stored(func(e list) { e[1] = list{[]byte{}} }), 1},
		"parent is a list":       {stored(func(e list) { e[2] = list{} }), 1},
		"token is negative":      {stored(func(e list) { e[3] = list{-1} }), 1},
		"token is too large":     {stored(func(e list) { e[3] = list{uint64(1 << 32)} }), 1},
		"tokens are pairs":       {stored(func(e list) { e[3] = list{list{1, 2}} }), 1},
		"block size is zero":     {stored(func(e list) { e[4] = 0 }), 1},
		"block size is huge":     {stored(func(e list) { e[4] = 1 << 30 }), 1},
		"block size is nil":      {stored(func(e list) { e[4] = nil }), 1},
		"lora id is text":        {stored(func(e list) { e[5] = "a" }), 1},
		"medium is a number":     {stored(func(e list) { e[6] = 1 }), 1},
		"medium is no UTF-8":     {stored(func(e list) { e[6] = "\xff\xfe" }), 1},
		"window is negative":     {object{"type": "BlockStored", "block_hashes": list{}, "parent_block_hash": nil, "token_ids": list{}, "block_size": 1, "kv_cache_spec_sliding_window": -1}, 1},
		"extra keys are text":    {object{"type": "BlockStored", "block_hashes": list{}, "parent_block_hash": nil, "token_ids": list{}, "block_size": 1, "extra_keys": "x"}, 1},
		"copies are text":        {object{"type": "BlockRemoved", "block_hashes": list{1}, "remaining_copy_counts": "x"}, 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before, after := list{"BlockRemoved", list{1}}, list{"BlockRemoved", list{2}}
			var decoder Decoder
			batch, err := decoder.Decode(packBatch(t, before, tc.event, after))
			if err != nil {
				t.Fatal(err)
			}
			want := &Batch{Timestamp: 1.5, HasRank: true, Skipped: 1, Malformed: tc.malformed, Events: []Event{
				{Kind: BlockRemoved, Items: 2, Hashes: []Hash{IntHash(1)}},
				{Kind: BlockRemoved, Items: 2, Hashes: []Hash{IntHash(2)}},
			}}
			if diff := cmp.Diff(want, batch); diff != "" {
				t.Errorf("batch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeBatch(t *testing.T) {
	tests := map[string]struct {
		payload []byte
		want    *Batch
		wantErr error
	}{
		"no rank":          {payload: pack(t, list{2.5, list{}}), want: &Batch{Timestamp: 2.5}},
		"nil rank":         {payload: pack(t, list{2.5, list{}, nil}), want: &Batch{Timestamp: 2.5}},
		"rank":             {payload: pack(t, list{2.5, list{}, 3}), want: &Batch{Timestamp: 2.5, Rank: 3, HasRank: true}},
		"more items":       {payload: pack(t, list{2.5, list{}, 3, object{"epoch": "x"}, 1}), want: &Batch{Timestamp: 2.5, Rank: 3, HasRank: true}},
		"whole seconds":    {payload: pack(t, list{2, list{}}), want: &Batch{Timestamp: 2}},
		"negative seconds": {payload: pack(t, list{-2, list{}}), want: &Batch{Timestamp: -2}},
		"short float":      {payload: pack(t, list{float32(0.5), list{}}), want: &Batch{Timestamp: 0.5}},
		"nothing":          {payload: nil, wantErr: errTruncated},
		"a map":            {payload: pack(t, object{"ts": 1.5, "events": list{}}), wantErr: errType},
		"one item":         {payload: pack(t, list{1.5}), wantErr: errType},
		"time is text":     {payload: pack(t, list{"now", list{}}), wantErr: errType},
		"events are text":  {payload: pack(t, list{1.5, "none"}), wantErr: errType},
		"rank is text":     {payload: pack(t, list{1.5, list{}, "0"}), wantErr: errType},
		"negative rank":    {payload: pack(t, list{1.5, list{}, -1}), wantErr: errRange},
		"bytes behind":     {payload: append(pack(t, list{1.5, list{}}), 0), wantErr: errCount},
		"cut":              {payload: pack(t, list{1.5, list{list{"BlockRemoved", list{1, 2, 3}}}})[:20], wantErr: errTruncated},
		"events announced": {payload: []byte("\x92\x01\xdd\xff\xff\xff\xff"), wantErr: errCount},
		"items announced":  {payload: []byte("\x92\x01\x91\xdd\x0f\xff\xff\xff\xc0"), wantErr: errCount},
		"bytes announced":  {payload: []byte("\x92\x01\x91\xc6\xff\xff\xff\xff\xc0"), wantErr: errTruncated},
		"invalid byte":     {payload: []byte("\x92\x01\x91\xc1"), wantErr: errType},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var decoder Decoder
			got, err := decoder.Decode(tc.payload)
			if !errors.Is(err, tc.wantErr) {
				t.Fatalf("got error %v, want %v", err, tc.wantErr)
			}
			if tc.wantErr == nil {
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("batch (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestSkip passes over one value of every format.
func TestSkip(t *testing.T) {
	values := map[string]string{
		"fixint": "\x05", "negative": "\xff", "nil": "\xc0", "false": "\xc2", "true": "\xc3",
		"bin8": "\xc4\x01x", "bin16": "\xc5\x00\x01x", "bin32": "\xc6\x00\x00\x00\x01x",
		"ext8": "\xc7\x02\x07xx", "ext16": "\xc8\x00\x01\x07x", "ext32": "\xc9\x00\x00\x00\x01\x07x",
		"float": "\xca\x00\x00\x00\x00", "double": "\xcb\x00\x00\x00\x00\x00\x00\x00\x00",
		"uint8": "\xcc\x00", "uint16": "\xcd\x00\x00", "uint32": "\xce\x00\x00\x00\x00", "uint64": "\xcf\x00\x00\x00\x00\x00\x00\x00\x00",
		"int8": "\xd0\x00", "int16": "\xd1\x00\x00", "int32": "\xd2\x00\x00\x00\x00", "int64": "\xd3\x00\x00\x00\x00\x00\x00\x00\x00",
		"fixext1": "\xd4\x07x", "fixext2": "\xd5\x07xx", "fixext4": "\xd6\x07xxxx", "fixext8": "\xd7\x07xxxxxxxx",
		"fixext16": "\xd8\x07xxxxxxxxxxxxxxxx", "fixstr": "\xa2xx", "str8": "\xd9\x01x", "str16": "\xda\x00\x01x",
		"str32": "\xdb\x00\x00\x00\x01x", "fixarray": "\x92\x01\x02", "array16": "\xdc\x00\x01\x01",
		"array32": "\xdd\x00\x00\x00\x01\x01", "fixmap": "\x81\x01\x02", "map16": "\xde\x00\x01\x01\x02", "map32": "\xdf\x00\x00\x00\x01\x01\x02",
	}
	for name, value := range values {
		t.Run(name, func(t *testing.T) {
			c := cursor{data: []byte(value + "\x2a")}
			if err := c.skip(); err != nil || c.pos != len(value) {
				t.Errorf("skipped %d of %d bytes, error %v", c.pos, len(value), err)
			}
			for cut := range value {
				c := cursor{data: []byte(value[:cut])}
				if err := c.skip(); err == nil {
					t.Errorf("the first %d bytes were taken for a value", cut)
				}
			}
		})
	}
}

// TestDeepNesting holds that nesting costs neither stack nor time.
func TestDeepNesting(t *testing.T) {
	nested := append(bytes.Repeat([]byte{0x91}, 1<<20), 0xc0)
	payload := append([]byte("\x92\x01\x91"), nested...)
	var decoder Decoder
	batch, err := decoder.Decode(payload)
	if err != nil || batch.Skipped != 1 {
		t.Errorf("batch %+v, error %v", batch, err)
	}
}

// TestBounds holds that a payload cannot become a batch many times its size.
func TestBounds(t *testing.T) {
	many := func(n int, unit string) string {
		return "\xdd" + string([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}) + strings.Repeat(unit, n)
	}
	tests := map[string]string{
		"hashes": "\x92\x01\x91\x92\xacBlockRemoved" + many(maxBlocks+1, "\x01"),
		"tokens": "\x92\x01\x91\x95\xabBlockStored\x90\xc0" + many(maxTokens+1, "\x01") + "\x01",
		"blocks": "\x92\x01\x91\x99\xabBlockStored\x90\xc0\x90\x01\xc0\xc0\xc0" + many(maxBlocks+1, "\xc0"),
		"keys":   "\x92\x01\x91\x99\xabBlockStored\x90\xc0\x90\x01\xc0\xc0\xc0\x91" + many(maxBlocks+1, "\xc0"),
		"copies": "\x92\x01\x91\x83\xa4type\xacBlockRemoved\xacblock_hashes\x90\xb5remaining_copy_counts" + many(maxBlocks+1, "\x01"),
	}
	for name, payload := range tests {
		t.Run(name, func(t *testing.T) {
			var decoder Decoder
			batch, err := decoder.Decode([]byte(payload))
			if err != nil || batch.Malformed != 1 || len(batch.Events) != 0 {
				t.Errorf("batch %+v, error %v", batch, err)
			}
		})
	}
	var decoder Decoder
	if _, err := decoder.Decode([]byte("\x92\x01" + many(maxEvents+1, "\xc0"))); !errors.Is(err, errRange) {
		t.Errorf("too many events: got error %v", err)
	}
}

// TestDecoderReuse holds that a batch does not leak into the next one, and that
// steady traffic does not allocate.
func TestDecoderReuse(t *testing.T) {
	first := packBatch(t, list{"BlockStored", list{1, 2}, 3, list{1, 2}, 1, 1, "CPU", "a", list{list{"x"}, nil}, 1, "mamba", 2})
	second := packBatch(t, list{"BlockStored", list{4}, nil, list{5}, 1})
	var decoder Decoder
	if _, err := decoder.Decode(first); err != nil {
		t.Fatal(err)
	}
	got, err := decoder.Decode(second)
	if err != nil {
		t.Fatal(err)
	}
	want := []Event{{Kind: BlockStored, Items: 5, Hashes: []Hash{IntHash(4)}, Tokens: []uint32{5}, BlockSize: 1}}
	if diff := cmp.Diff(want, got.Events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	allocs := testing.AllocsPerRun(100, func() {
		_, err = decoder.Decode(first)
	})
	if err != nil || allocs != 0 {
		t.Errorf("%v allocations a batch, error %v", allocs, err)
	}
}

func TestInternerIsBounded(t *testing.T) {
	var names interner
	for i := range 3 * maxInterned {
		b := []byte{byte(i >> 16), byte(i >> 8), byte(i)}
		if got := names.intern(b); got != string(b) {
			t.Fatalf("%q became %q", b, got)
		}
	}
	if len(names.names) > maxInterned {
		t.Errorf("%d names are kept", len(names.names))
	}
	long := strings.Repeat("x", maxInternedSize+1)
	if names.intern([]byte(long)) != long || names.names[long] != "" {
		t.Error("a long name is kept")
	}
}

func TestHash(t *testing.T) {
	digest := bytes.Repeat([]byte{7}, 24)
	digest = append(digest, 0, 0, 0, 0, 0, 0, 1, 2)
	tests := map[string]struct {
		hash   Hash
		bits   uint64
		text   string
		equals Hash
	}{
		"integer":      {IntHash(258), 258, "0000000000000102", BytesHash([]byte{1, 2})},
		"largest":      {IntHash(math.MaxUint64), math.MaxUint64, "ffffffffffffffff", BytesHash(bytes.Repeat([]byte{255}, 8))},
		"digest":       {BytesHash(digest), 258, strings.Repeat("07", 24) + "0000000000000102", BytesHash(digest)},
		"longer value": {BytesHash(append([]byte{9, 9}, digest...)), 258, strings.Repeat("07", 24) + "0000000000000102", BytesHash(digest)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.hash.Uint64() != tc.bits || tc.hash.String() != tc.text || tc.hash != tc.equals {
				t.Errorf("got %s, %d", tc.hash, tc.hash.Uint64())
			}
		})
	}
	if IntHash(258) == BytesHash(digest) {
		t.Error("a digest equals its own integer form")
	}
}
