/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kvevents

import (
	"math"
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
	for range n {
		h, err := d.cur.hash()
		if err != nil {
			return nil, err
		}
		d.hashes = append(d.hashes, h)
	}
	return d.hashes[start:len(d.hashes):len(d.hashes)], nil
}

// readTokens reads token ids, the bulk of most payloads. Ids that do not fit 32
// bits, and pairs of ids as speculative decoding stores them, are refused.
func (d *Decoder) readTokens() ([]uint32, error) {
	n, err := d.cur.array()
	if err != nil {
		return nil, err
	}
	start := len(d.tokens)
	if start+n > maxTokens {
		return nil, errRange
	}
	for range n {
		bits, negative, err := d.cur.integer()
		if err != nil {
			return nil, err
		}
		if negative || bits > math.MaxUint32 {
			return nil, errRange
		}
		d.tokens = append(d.tokens, uint32(bits))
	}
	return d.tokens[start:len(d.tokens):len(d.tokens)], nil
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
