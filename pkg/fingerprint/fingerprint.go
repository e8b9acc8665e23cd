/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fingerprint

import (
	"encoding/binary"
	"errors"
	"unsafe"

	"github.com/zeebo/xxh3"
)

// Seed is the XXH3 seed of every hash here. Routers in the field use the same
// value; another one would name the same prefix differently.
const Seed = 1337

// WireSize is the length in bytes of a hash on the wire.
const WireSize = 8

// saltDomain precedes a cache salt when it is hashed, so that a salt can never
// produce the hash of a block that merely holds the same bytes.
const saltDomain = "inferencecache/cache_salt\x00"

// ErrWireSize reports a wire hash that is not exactly [WireSize] bytes long.
var ErrWireSize = errors.New("block hash is not 8 bytes long")

// Hash is a content hash or a prefix hash.
type Hash = uint64

// Parent is what a chain continues: the prefix hash of the block before it, or
// nothing. A parent whose hash is zero is a parent like any other, therefore
// Present is a field of its own.
type Parent struct {
	// Hash is the prefix hash of the block before; ignored unless Present.
	Hash uint64
	// Present tells a continued chain from one that starts a prompt.
	Present bool
}

// SaltParent returns the parent from which every chain under a cache salt
// starts. The empty salt is no salt, and its parent is not present.
func SaltParent(salt string) Parent {
	if salt == "" {
		return Parent{}
	}
	var scratch [128]byte
	buf := append(scratch[:0], saltDomain...)
	buf = append(buf, salt...)
	return Parent{Hash: xxh3.HashSeed(buf, Seed), Present: true}
}

// Content returns the hash of one block's tokens, whatever stands before them.
func Content(tokens []uint32) uint64 {
	if len(tokens) == 0 {
		return xxh3.HashSeed(nil, Seed)
	}
	if !littleEndian() {
		return contentPortable(tokens)
	}
	// The bytes in memory already are the little-endian form that is hashed.
	view := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(tokens))), 4*len(tokens))
	return xxh3.HashSeed(view, Seed)
}

// contentPortable encodes the tokens instead of reading their memory, for
// machines that store the most significant byte first.
func contentPortable(tokens []uint32) uint64 {
	var scratch [512]byte
	buf := scratch[:0]
	for _, token := range tokens {
		buf = binary.LittleEndian.AppendUint32(buf, token)
	}
	return xxh3.HashSeed(buf, Seed)
}

// littleEndian reports the byte order of this machine; the compiler reduces it
// to a constant.
func littleEndian() bool {
	probe := uint16(1)
	return *(*byte)(unsafe.Pointer(&probe)) == 1
}

// Next returns the prefix hash of a block from its parent and its content hash.
// The first block of an unsalted prompt has no parent, and its prefix hash is
// its content hash.
func Next(parent Parent, content uint64) uint64 {
	if !parent.Present {
		return content
	}
	var buf [16]byte
	binary.LittleEndian.PutUint64(buf[:8], parent.Hash)
	binary.LittleEndian.PutUint64(buf[8:], content)
	return xxh3.HashSeed(buf[:], Seed)
}

// Chain appends to dst the prefix hash of each full block of tokens and returns
// the extended slice. Tokens after the last full block are dropped, and so is
// everything when blockSize is not positive.
func Chain(dst []uint64, parent Parent, tokens []uint32, blockSize int) []uint64 {
	if blockSize <= 0 {
		return dst
	}
	for len(tokens) >= blockSize {
		h := Next(parent, Content(tokens[:blockSize]))
		dst = append(dst, h)
		parent = Parent{Hash: h, Present: true}
		tokens = tokens[blockSize:]
	}
	return dst
}

// AppendWire appends the wire form of h, 8 bytes big-endian, to dst.
func AppendWire(dst []byte, h uint64) []byte {
	return binary.BigEndian.AppendUint64(dst, h)
}

// FromWire reads the wire form of a hash. Any length but [WireSize] is
// [ErrWireSize]: a longer value is some engine's digest, not one of our hashes.
func FromWire(wire []byte) (uint64, error) {
	if len(wire) != WireSize {
		return 0, ErrWireSize
	}
	return binary.BigEndian.Uint64(wire), nil
}
