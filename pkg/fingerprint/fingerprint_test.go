/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fingerprint

import (
	"encoding/base64"
	"encoding/hex"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sequence returns n consecutive token ids.
func sequence(first uint32, n int) []uint32 {
	tokens := make([]uint32, n)
	for i := range tokens {
		tokens[i] = first + uint32(i)
	}
	return tokens
}

// repeated returns n equal token ids.
func repeated(token uint32, n int) []uint32 {
	tokens := make([]uint32, n)
	for i := range tokens {
		tokens[i] = token
	}
	return tokens
}

func TestChain(t *testing.T) {
	tests := map[string]struct {
		tokens    []uint32
		blockSize int
		parent    Parent
		want      []uint64
	}{
		"one block":         {sequence(1, 16), 16, Parent{}, []uint64{16863443419780771464}},
		"tail is dropped":   {sequence(100, 20), 16, Parent{}, []uint64{10823191264391160519}},
		"two blocks":        {sequence(1, 32), 16, Parent{}, []uint64{16863443419780771464, 12466389667045779788}},
		"four blocks":       {sequence(0, 64), 16, Parent{}, []uint64{15310707395893867146, 13769157705258532664, 11879827756109914528, 3888788807566526800}},
		"continued":         {sequence(50, 32), 16, Parent{0xDEADBEEF, true}, []uint64{13185224009891017151, 2998384554010166533}},
		"less than a block": {sequence(0, 10), 16, Parent{}, nil},
		"blocks of 64":      {sequence(1000, 128), 64, Parent{}, []uint64{0x65d2cf053f5d8363, 0xa398cd10d97488ea}},
		"largest token":     {repeated(4294967295, 16), 16, Parent{}, []uint64{0x7d8b6f9b721bb4ad}},
		"zero tokens":       {repeated(0, 48), 16, Parent{}, []uint64{0x4ca6490661395090, 0x2b0fa0857b243841, 0xa6c0f42dfcb6fc20}},
		"blocks of one":     {repeated(7, 3), 1, Parent{}, []uint64{0x98d1c3d5e07f17e1, 0x48183dd03802bf10, 0x5fd1fec05009fcb0}},
		"parent zero":       {sequence(1, 16), 16, Parent{0, true}, []uint64{0xadd6a66eb590ce57}},
		"salt":              {sequence(1, 32), 16, SaltParent("tenant-a"), []uint64{0xf710aaf12b75bf0e, 0xb985df47f72a3c9c}},
		"salt not ascii":    {sequence(1, 32), 16, SaltParent("ü"), []uint64{0x9b73e4a57db2392b, 0x05d7a66cd47a2c98}},
		"empty salt":        {sequence(1, 32), 16, SaltParent(""), []uint64{0xea06fc71a5ee6e88, 0xad01835a37dd294c}},
		"block size zero":   {sequence(1, 32), 0, Parent{}, nil},
		"block size below":  {sequence(1, 32), -16, Parent{}, nil},
		"no tokens":         {nil, 16, Parent{}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Chain(nil, tc.parent, tc.tokens, tc.blockSize)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("prefix hashes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestContent(t *testing.T) {
	tests := map[string]struct {
		tokens []uint32
		want   uint64
	}{
		"second of two":    {sequence(17, 16), 2287610619914608821},
		"0..15":            {sequence(0, 16), 15310707395893867146},
		"16..31":           {sequence(16, 16), 15292316782987903195},
		"32..47":           {sequence(32, 16), 5532946206955930018},
		"48..63":           {sequence(48, 16), 14928757266181269122},
		"continued first":  {sequence(50, 16), 11155103190600012808},
		"continued second": {sequence(66, 16), 2890258734783039975},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Content(tc.tokens); got != tc.want {
				t.Errorf("content hash: got %d, want %d", got, tc.want)
			}
			if got := contentPortable(tc.tokens); got != tc.want {
				t.Errorf("portable content hash: got %d, want %d", got, tc.want)
			}
		})
	}
}

// TestContentPortable compares the two ways to the same hash at lengths around
// the sizes at which XXH3 changes its algorithm.
func TestContentPortable(t *testing.T) {
	tokens := sequence(0xfffffff0, 400)
	for n := range tokens {
		if got, want := contentPortable(tokens[:n]), Content(tokens[:n]); got != want {
			t.Errorf("%d tokens: portable hash %x, direct hash %x", n, got, want)
		}
	}
}

func TestSaltParent(t *testing.T) {
	tests := map[string]struct {
		salt string
		want Parent
	}{
		"none":      {"", Parent{}},
		"ascii":     {"tenant-a", Parent{0x755d76f661f8ad30, true}},
		"not ascii": {"ü", Parent{0xa8b30b7c0a6f0a44, true}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, SaltParent(tc.salt)); diff != "" {
				t.Errorf("parent (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWithKeys(t *testing.T) {
	tests := map[string]struct {
		block int
		keys  []Key
		want  []uint64
	}{
		"no keys":        {0, nil, []uint64{0xea06fc71a5ee6e88, 0xad01835a37dd294c}},
		"second block":   {1, []Key{OffsetKey("img-1", 4)}, []uint64{0xea06fc71a5ee6e88, 0x8f1b21ee27a08801}},
		"two on a block": {0, []Key{OffsetKey("img-1", -3), TextKey("x")}, []uint64{0x1ebea05254df19bd, 0x56637a7e5fd9c1f3}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tokens, parent := sequence(1, 32), Parent{}
			var got []uint64
			for block := range 2 {
				content := Content(tokens[16*block : 16*block+16])
				if block == tc.block {
					content = WithKeys(content, tc.keys)
				}
				parent = Parent{Hash: Next(parent, content), Present: true}
				got = append(got, parent.Hash)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("prefix hashes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAppendKey(t *testing.T) {
	tests := map[string]struct {
		keys []Key
		want string
	}{
		"offset and text": {[]Key{OffsetKey("img-1", -3), TextKey("x")}, "0105000000696d672d31fdffffffffffffff020100000078"},
		"bytes":           {[]Key{BytesKey([]byte{0xca, 0xfe})}, "0302000000cafe"},
		"empty text":      {[]Key{TextKey("")}, "0200000000"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []byte
			for i := range tc.keys {
				got = appendKey(got, &tc.keys[i])
			}
			if hex.EncodeToString(got) != tc.want {
				t.Errorf("encoded keys: got %x, want %s", got, tc.want)
			}
		})
	}
}

func TestWire(t *testing.T) {
	tests := map[string]struct {
		hash uint64
		want string
	}{
		"first block":  {16863443419780771464, "6gb8caXubog="},
		"dropped tail": {10823191264391160519, "ljOzHHolYsc="},
		"content":      {2287610619914608821, "H785vRBr4LU="},
		"second block": {12466389667045779788, "rQGDWjfdKUw="},
		"fourth block": {3888788807566526800, "NffA0RmEiVA="},
		"continued":    {2998384554010166533, "KZxm3aHLRQU="},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			wire := AppendWire(nil, tc.hash)
			if got := base64.StdEncoding.EncodeToString(wire); got != tc.want {
				t.Errorf("wire form: got %s, want %s", got, tc.want)
			}
			back, err := FromWire(wire)
			if err != nil || back != tc.hash {
				t.Errorf("read back: got %d, %v, want %d", back, err, tc.hash)
			}
		})
	}
	for _, size := range []int{0, 7, 9, 32} {
		if _, err := FromWire(make([]byte, size)); err == nil {
			t.Errorf("%d bytes were taken for a hash", size)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	tokens := sequence(1, 1024)
	dst := make([]uint64, 0, 64)
	keys := []Key{OffsetKey("image", 3), TextKey("adapter")}
	allocs := testing.AllocsPerRun(100, func() {
		dst = Chain(dst[:0], SaltParent("tenant-a"), tokens, 16)
		dst[0] = WithKeys(dst[0], keys)
	})
	if allocs != 0 {
		t.Errorf("got %v allocations, want none", allocs)
	}
}
