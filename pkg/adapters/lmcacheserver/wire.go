/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package lmcacheserver

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// The wire of LMCache's own server, as releases from 0.4 to 0.5.6 speak it: a
// request and a reply each begin with nine integers of 32 bits, little-endian. A
// request goes on with a key that is filled up with blanks, and with the block if
// one is stored. Nothing tells the version.

// Commands of a request.
const (
	commandPut    = 1
	commandGet    = 2
	commandHealth = 5
)

// Codes of a reply.
const (
	codeSuccess = 200
	codeFail    = 400
)

const (
	headerSize  = 9 * 4
	keySize     = 150
	requestSize = headerSize + keySize

	// formatToken and typeHalf are how the block of a probe claims to be laid out: by
	// token, in numbers of two bytes. The server hands both back as they came.
	formatToken = 2
	typeHalf    = 2
	halfSize    = 2
)

// shape are the four dimensions of a block.
type shape [4]int32

// request is the head of a request.
type request struct {
	command int32
	// length is the size of the block that follows, in bytes.
	length int32
	// dims are the dimensions of that block.
	dims shape
	key  string
}

// encode writes a request. The location, between type and dimensions, is left to
// the server.
func (r request) encode() []byte {
	out := make([]byte, 0, requestSize)
	for _, v := range append([]int32{r.command, r.length, formatToken, typeHalf, 0}, r.dims[:]...) {
		out = binary.LittleEndian.AppendUint32(out, uint32(v))
	}
	return append(out, fmt.Sprintf("%-*s", keySize, r.key)...)
}

// header is the head of a reply.
type header struct {
	code int32
	// length is the size of the block that follows, in bytes.
	length       int32
	format, kind int32
	dims         shape
}

// decodeHeader reads the head of a reply. What is no head that the server writes is
// an error.
func decodeHeader(raw [headerSize]byte) (header, error) {
	var ints [9]int32
	for i := range ints {
		ints[i] = int32(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	h := header{code: ints[0], length: ints[1], format: ints[2], kind: ints[3], dims: shape(ints[4:8])}
	if h.code != codeSuccess && h.code != codeFail {
		return header{}, fmt.Errorf("code %d", h.code)
	}
	if h.length < 0 {
		return header{}, fmt.Errorf("length %d", h.length)
	}
	return h, nil
}

// key returns the key under which probes with a prefix store: always the same one,
// because the server deletes nothing. It names the model, the size of the world, the
// rank, the hash and the type.
func key(prefix string) string {
	return "inferencecache.io/probe@1@0@" + keyHash(prefix) + "@half"
}

// formerKey is the same key as releases up to 0.3 wrote it, with the engine in
// front and no type at the end.
func formerKey(prefix string) string {
	return "vllm@inferencecache.io/probe@1@0@" + keyHash(prefix)
}

func keyHash(prefix string) string {
	sum := sha256.Sum256([]byte(prefix))
	// The server reads the hash as one integer, of any size.
	return hex.EncodeToString(sum[:16])
}
