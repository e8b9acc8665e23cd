/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kvevents

import (
	"encoding/binary"
	"encoding/hex"
)

// hashSize is the length of the longest digest in use (SHA-256).
const hashSize = 32

// Hash is an engine's name of a block: an opaque value that can be compared and
// used as a map key, and that means nothing outside the engine that made it.
//
// Engines send integers or digests. Both are kept right-aligned, because an
// engine that sends integers sends the last 8 bytes of its digest.
type Hash [hashSize]byte

// IntHash returns the hash that an engine sent as an integer. A negative number
// stands for its two's complement: the bits count, not the sign.
func IntHash(bits uint64) Hash {
	var h Hash
	binary.BigEndian.PutUint64(h[hashSize-8:], bits)
	return h
}

// BytesHash returns the hash that an engine sent as a byte string. Of a string
// longer than 32 bytes the last 32 are kept.
func BytesHash(digest []byte) Hash {
	var h Hash
	if len(digest) > hashSize {
		digest = digest[len(digest)-hashSize:]
	}
	copy(h[hashSize-len(digest):], digest)
	return h
}

// Uint64 returns the last 8 bytes, big-endian: the value under which an engine
// that publishes integers would have sent the same digest.
func (h Hash) Uint64() uint64 {
	return binary.BigEndian.Uint64(h[hashSize-8:])
}

// String returns the hash in hex, without the leading zeros of the integer form.
func (h Hash) String() string {
	if h == IntHash(h.Uint64()) {
		return hex.EncodeToString(h[hashSize-8:])
	}
	return hex.EncodeToString(h[:])
}
