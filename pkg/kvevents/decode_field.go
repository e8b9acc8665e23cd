/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kvevents

import (
	"encoding/binary"
	"math"
	"slices"
	"unicode/utf8"
)

// maxBlockSize is far above what engines use; it keeps arithmetic on sizes safe.
const maxBlockSize = 1 << 20

// decodeField reads the value of one field. Of a field that the kind of event
// does not have, and of one that is not known, the value is skipped.
func (d *Decoder) decodeField(e *Event, f field, seen *set) (err error) {
	if !f.matters(e.Kind) {
		return d.cur.skip()
	}
	*seen = seen.with(f)
	switch f {
	case fieldHashes:
		e.Hashes, err = d.readHashes()
	case fieldParent:
		e.Parent, e.HasParent, err = d.readParent()
	case fieldTokens:
		e.Tokens, err = d.readTokens()
	case fieldBlockSize:
		e.BlockSize, err = d.readBlockSize()
	case fieldLoRAID:
		e.LoRAID, e.HasLoRAID, err = d.readLoRAID()
	case fieldMedium:
		e.Medium, err = d.readText()
	case fieldLoRAName:
		e.LoRAName, err = d.readText()
	case fieldExtraKeys:
		e.ExtraKeys, err = d.readExtraKeys()
	case fieldGroup:
		e.Group, e.HasGroup, err = d.readSmall()
	case fieldSpecKind:
		e.SpecKind, err = d.readText()
	case fieldWindow:
		e.SlidingWindow, _, err = d.readSmall()
	case fieldLocality:
		e.Locality, err = d.readText()
	case fieldOwnership:
		e.Ownership, err = d.readText()
	case fieldSessionID:
		e.SessionID, err = d.readText()
	case fieldCacheSalt:
		e.CacheSalt, err = d.readText()
	case fieldRemainingCopies:
		e.RemainingCopies, err = d.readCopies()
	default:
		err = d.cur.skip()
	}
	return err
}

// readText reads a string or nil. Texts go on into messages that have to be
// valid UTF-8.
func (d *Decoder) readText() (string, error) {
	if d.cur.skipNil() {
		return "", nil
	}
	b, text, err := d.cur.str()
	if err != nil {
		return "", err
	}
	if !text || !utf8.Valid(b) {
		return "", errType
	}
	return d.names.intern(b), nil
}

// small consumes an integer between 0 and the largest int32.
func (c *cursor) small() (int, error) {
	bits, negative, err := c.integer()
	if err != nil {
		return 0, err
	}
	if negative || bits > math.MaxInt32 {
		return 0, errRange
	}
	return int(bits), nil
}

// readSmall reads a small integer or nil.
func (d *Decoder) readSmall() (value int, present bool, err error) {
	if d.cur.skipNil() {
		return 0, false, nil
	}
	value, err = d.cur.small()
	return value, true, err
}

func (d *Decoder) readBlockSize() (int, error) {
	size, err := d.cur.small()
	if err == nil && (size < 1 || size > maxBlockSize) {
		err = errRange
	}
	return size, err
}

func (d *Decoder) readLoRAID() (id int64, present bool, err error) {
	if d.cur.skipNil() {
		return 0, false, nil
	}
	bits, _, err := d.cur.integer()
	return int64(bits), true, err
}

// hash consumes an engine's block hash: an integer or a byte string. Very old
// msgpack has no byte strings and sends strings in their place.
func (c *cursor) hash() (Hash, error) {
	f := c.peek()
	if (f == formatUint64 || f == formatInt64) && c.remaining() > 8 { // nearly always
		bits := binary.BigEndian.Uint64(c.data[c.pos+1:])
		c.pos += 9
		return IntHash(bits), nil
	}
	if f <= fixIntMax || f >= fixNegative || f >= formatUint8 && f <= formatInt64 {
		bits, _, err := c.integer()
		return IntHash(bits), err
	}
	digest, _, err := c.str()
	if err != nil {
		return Hash{}, err
	}
	if len(digest) == 0 {
		return Hash{}, errRange
	}
	return BytesHash(digest), nil
}

func (d *Decoder) readParent() (parent Hash, present bool, err error) {
	if d.cur.skipNil() {
		return Hash{}, false, nil
	}
	parent, err = d.cur.hash()
	return parent, true, err
}

func (d *Decoder) readHashes() ([]Hash, error) {
	n, err := d.cur.array()
	if err != nil {
		return nil, err
	}
	start := len(d.hashes)
	if start+n > maxBlocks {
		return nil, errRange
	}
	d.hashes = slices.Grow(d.hashes, n)
	for range n {
		h, err := d.cur.hash()
		if err != nil {
			return nil, err
		}
		d.hashes = append(d.hashes, h)
	}
	return d.hashes[start:len(d.hashes):len(d.hashes)], nil
}

// readTokens reads token ids. Ids that do not fit 32 bits, and pairs of ids as
// speculative decoding stores them, are refused.
func (d *Decoder) readTokens() ([]uint32, error) {
	n, err := d.cur.array()
	if err != nil {
		return nil, err
	}
	start := len(d.tokens)
	if start+n > maxTokens {
		return nil, errRange
	}
	// There are at least n bytes left, so what grows here was paid for.
	d.tokens = slices.Grow(d.tokens, n)
	tokens := d.tokens[start : start+n : start+n]
	if err := d.cur.uint32s(tokens); err != nil {
		return nil, err
	}
	d.tokens = d.tokens[:start+n]
	return tokens, nil
}

// uint32s consumes as many integers as dst holds. Most of a payload is tokens,
// and most tokens take one of three forms; those are read without a call.
func (c *cursor) uint32s(dst []uint32) error {
	for i := range dst {
		rest := c.data[c.pos:]
		switch {
		case len(rest) >= 3 && rest[0] == formatUint16:
			dst[i] = uint32(binary.BigEndian.Uint16(rest[1:]))
			c.pos += 3
		case len(rest) >= 1 && rest[0] <= fixIntMax:
			dst[i] = uint32(rest[0])
			c.pos++
		case len(rest) >= 5 && rest[0] == formatUint32:
			dst[i] = binary.BigEndian.Uint32(rest[1:])
			c.pos += 5
		default:
			bits, negative, err := c.integer()
			if err != nil {
				return err
			}
			if negative || bits > math.MaxUint32 {
				return errRange
			}
			dst[i] = uint32(bits)
		}
	}
	return nil
}

func (d *Decoder) readCopies() ([]int64, error) {
	if d.cur.skipNil() {
		return nil, nil
	}
	n, err := d.cur.array()
	if err != nil {
		return nil, err
	}
	start := len(d.copies)
	if start+n > maxBlocks {
		return nil, errRange
	}
	for range n {
		count, err := d.cur.small()
		if err != nil {
			return nil, err
		}
		d.copies = append(d.copies, int64(count))
	}
	return d.copies[start:len(d.copies):len(d.copies)], nil
}
