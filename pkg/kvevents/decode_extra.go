/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kvevents

import "unicode/utf8"

// readExtraKeys reads, per block, nil or a list of extra keys.
func (d *Decoder) readExtraKeys() ([][]ExtraKey, error) {
	if d.cur.skipNil() {
		return nil, nil
	}
	n, err := d.cur.array()
	if err != nil {
		return nil, err
	}
	start := len(d.blocks)
	if start+n > maxBlocks {
		return nil, errRange
	}
	for range n {
		keys, err := d.readBlockKeys()
		if err != nil {
			return nil, err
		}
		d.blocks = append(d.blocks, keys)
	}
	return d.blocks[start:len(d.blocks):len(d.blocks)], nil
}

// readBlockKeys reads the extra keys of one block, nil if it has none.
func (d *Decoder) readBlockKeys() ([]ExtraKey, error) {
	if d.cur.skipNil() {
		return nil, nil
	}
	n, err := d.cur.array()
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, nil
	}
	start := len(d.keys)
	if start+n > maxBlocks {
		return nil, errRange
	}
	for range n {
		key, err := d.readExtraKey()
		if err != nil {
			return nil, err
		}
		d.keys = append(d.keys, key)
	}
	return d.keys[start:len(d.keys):len(d.keys)], nil
}

// readExtraKey reads one key. Whatever its form it is kept: to drop a key would
// make two blocks look equal that are not.
func (d *Decoder) readExtraKey() (ExtraKey, error) {
	start := d.cur.pos
	if key, ok := d.knownExtraKey(); ok {
		return key, nil
	}
	d.cur.pos = start
	if err := d.cur.skip(); err != nil {
		return ExtraKey{}, err
	}
	return ExtraKey{Kind: ExtraRaw, Bytes: d.cur.data[start:d.cur.pos:d.cur.pos]}, nil
}

// knownExtraKey reads a key of a form that has a kind of its own.
func (d *Decoder) knownExtraKey() (key ExtraKey, ok bool) {
	if d.cur.isArray() {
		return d.offsetKey()
	}
	start := d.cur.pos
	if b, text, err := d.cur.str(); err == nil {
		if !text {
			return ExtraKey{Kind: ExtraBytes, Bytes: b}, true
		}
		return ExtraKey{Kind: ExtraText, Text: d.names.intern(b)}, utf8.Valid(b)
	}
	d.cur.pos = start
	bits, negative, err := d.cur.integer()
	// Above the largest int64 a number would look like a negative one.
	return ExtraKey{Kind: ExtraInt, Int: int64(bits)}, err == nil && negative == (int64(bits) < 0)
}

// offsetKey reads a pair of an identifier and a position.
func (d *Decoder) offsetKey() (key ExtraKey, ok bool) {
	n, err := d.cur.array()
	if err != nil || n != 2 {
		return ExtraKey{}, false
	}
	identifier, text, err := d.cur.str()
	if err != nil || !text || !utf8.Valid(identifier) {
		return ExtraKey{}, false
	}
	bits, negative, err := d.cur.integer()
	if err != nil || negative != (int64(bits) < 0) {
		return ExtraKey{}, false
	}
	return ExtraKey{Kind: ExtraOffset, Text: d.names.intern(identifier), Int: int64(bits)}, true
}
