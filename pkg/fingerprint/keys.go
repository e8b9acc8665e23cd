/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fingerprint

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"
)

// KeyKind says what a [Key] holds. The values are the tags that are hashed.
type KeyKind uint8

// The kinds of block keys.
const (
	// KeyOffset is an input by its identifier, together with the position in
	// the input at which the block begins.
	KeyOffset KeyKind = 0x01
	// KeyText is a string.
	KeyText KeyKind = 0x02
	// KeyBytes is an opaque byte string, such as a digest.
	KeyBytes KeyKind = 0x03
)

// Key is something besides tokens that decides what a block contains. Build one
// with [OffsetKey], [TextKey] or [BytesKey].
type Key struct {
	// Kind selects which of the other fields count.
	Kind KeyKind
	// Text is the identifier of a KeyOffset or the string of a KeyText.
	Text string
	// Bytes is the value of a KeyBytes.
	Bytes []byte
	// Offset is the position of a KeyOffset. It can be negative when the input
	// began in a block before this one.
	Offset int64
}

// OffsetKey returns the key of a block that holds part of the named input.
func OffsetKey(identifier string, offset int64) Key {
	return Key{Kind: KeyOffset, Text: identifier, Offset: offset}
}

// TextKey returns a key that is a string.
func TextKey(text string) Key {
	return Key{Kind: KeyText, Text: text}
}

// BytesKey returns a key that is a byte string. The key refers to value, it does
// not copy it.
func BytesKey(value []byte) Key {
	return Key{Kind: KeyBytes, Bytes: value}
}

// WithKeys folds the keys of a block into its content hash. Their order counts;
// it is the order in which the engine lists them. Without keys the content hash
// is unchanged. Keys longer than 4 GiB are beyond what the encoding can tell
// apart.
func WithKeys(content uint64, keys []Key) uint64 {
	if len(keys) == 0 {
		return content
	}
	var scratch [256]byte
	buf := binary.LittleEndian.AppendUint64(scratch[:0], content)
	for i := range keys {
		buf = appendKey(buf, &keys[i])
	}
	return xxh3.HashSeed(buf, Seed)
}

// appendKey writes one key: its tag, its length and its bytes, then the offset
// where there is one. Lengths keep neighbouring keys from running together.
func appendKey(buf []byte, key *Key) []byte {
	buf = append(buf, byte(key.Kind))
	if key.Kind == KeyBytes {
		buf = binary.LittleEndian.AppendUint32(buf, uint32(len(key.Bytes)))
		return append(buf, key.Bytes...)
	}
	buf = binary.LittleEndian.AppendUint32(buf, uint32(len(key.Text)))
	buf = append(buf, key.Text...)
	if key.Kind == KeyOffset {
		buf = binary.LittleEndian.AppendUint64(buf, uint64(key.Offset))
	}
	return buf
}
