/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fingerprint

import (
	"encoding/binary"
	"testing"

	"inferencecache.io/inference-cache/test/mutation"
)

// FuzzChain holds the properties on which the index relies for any tokens: a
// chain can be cut anywhere and continued from its last hash, every block has
// one hash, and both byte-order paths agree.
func FuzzChain(f *testing.F) {
	corpus := mutation.New(f, 5000)
	corpus.Add([]byte("\x01\x00\x00\x00\x02\x00\x00\x00\x03\x00\x00\x00"), uint8(1), uint8(1), "")
	corpus.Add(make([]byte, 256), uint8(16), uint8(2), "tenant-a")
	corpus.Fuzz(func(t *testing.T, raw []byte, size, cut uint8, salt string) {
		tokens := make([]uint32, len(raw)/4)
		for i := range tokens {
			tokens[i] = binary.LittleEndian.Uint32(raw[4*i:])
		}
		blockSize := int(size)
		parent := SaltParent(salt)
		whole := Chain(nil, parent, tokens, blockSize)
		if blockSize == 0 {
			if len(whole) != 0 {
				t.Fatalf("blocks of no tokens gave %d hashes", len(whole))
			}
			return
		}
		if len(whole) != len(tokens)/blockSize {
			t.Fatalf("got %d hashes, want %d", len(whole), len(tokens)/blockSize)
		}
		if len(whole) == 0 {
			return
		}
		at := int(cut) % len(whole)
		parts := Chain(nil, parent, tokens[:at*blockSize], blockSize)
		if at > 0 {
			parent = Parent{Hash: parts[at-1], Present: true}
		}
		parts = Chain(parts, parent, tokens[at*blockSize:], blockSize)
		for i := range whole {
			if whole[i] != parts[i] {
				t.Fatalf("block %d: %x in one piece, %x cut at %d", i, whole[i], parts[i], at)
			}
		}
		if Content(tokens) != contentPortable(tokens) {
			t.Fatal("byte-order paths disagree")
		}
	})
}

// FuzzFromWire holds that the wire form is exactly eight bytes, both ways.
func FuzzFromWire(f *testing.F) {
	corpus := mutation.New(f, 1000)
	corpus.Add([]byte("12345678"))
	corpus.Add([]byte{})
	corpus.Fuzz(func(t *testing.T, wire []byte) {
		h, err := FromWire(wire)
		if (err == nil) != (len(wire) == WireSize) {
			t.Fatalf("%d bytes: %v", len(wire), err)
		}
		if err == nil && string(AppendWire(nil, h)) != string(wire) {
			t.Fatalf("%x became %x", wire, h)
		}
	})
}
