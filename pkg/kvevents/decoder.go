/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kvevents

import (
	"fmt"
)

// Bounds of one batch. Real ones hold what one step of an engine did, some
// thousand blocks; a small hostile payload must not become a large Batch.
const (
	maxEvents = 1 << 18
	maxBlocks = 1 << 20 // hashes, extra keys and copy counts, each
	maxTokens = 1 << 23
)

// Capacities up to which buffers are kept from one batch to the next.
const (
	keepEvents = 1 << 12
	keepBlocks = 1 << 14
	keepTokens = 1 << 18
)

// Decoder decodes batches of events. The zero value is ready for use. It is for
// one goroutine.
type Decoder struct {
	batch Batch
	cur   cursor
	names interner

	// Events refer to parts of these, which are reused for every batch.
	hashes []Hash
	tokens []uint32
	keys   []ExtraKey
	blocks [][]ExtraKey
	copies []int64
}

// Decode reads the payload of a message. The batch is valid until the next call
// and refers to the payload.
//
// Events that are unknown or that cannot be read are counted and left out. An
// error means that the payload is no batch, or that it breaks off, or that it
// holds more than any engine sends; nothing of it is returned then, because what
// is missing cannot be told.
func (d *Decoder) Decode(payload []byte) (*Batch, error) {
	d.reset(payload)
	if err := d.decodeBatch(); err != nil {
		return nil, fmt.Errorf("decoding event batch at byte %d of %d: %w", d.cur.pos, len(payload), err)
	}
	return &d.batch, nil
}

// reset forgets the previous batch and buffers that it made too large.
func (d *Decoder) reset(payload []byte) {
	d.cur = cursor{data: payload}
	d.batch = Batch{Events: reuse(d.batch.Events, keepEvents)}
	d.hashes = reuse(d.hashes, keepBlocks)
	d.keys = reuse(d.keys, keepBlocks)
	d.blocks = reuse(d.blocks, keepBlocks)
	d.copies = reuse(d.copies, keepBlocks)
	d.tokens = reuse(d.tokens, keepTokens)
}

// reuse empties a buffer, or drops it if it is larger than what is kept.
func reuse[T any](buf []T, keep int) []T {
	if cap(buf) > keep {
		return nil
	}
	return buf[:0]
}

// decodeBatch reads [timestamp, events, rank?]. Items after the third are not
// known yet and skipped.
func (d *Decoder) decodeBatch() error {
	items, err := d.cur.array()
	if err != nil {
		return err
	}
	if items < 2 {
		return errType
	}
	if d.batch.Timestamp, err = d.cur.float(); err != nil {
		return err
	}
	if err := d.decodeEvents(); err != nil {
		return err
	}
	if items > 2 && !d.cur.skipNil() {
		if d.batch.Rank, err = d.cur.small(); err != nil {
			return err
		}
		d.batch.HasRank = true
	}
	for range max(items-3, 0) {
		if err := d.cur.skip(); err != nil {
			return err
		}
	}
	if d.cur.remaining() > 0 {
		return errCount
	}
	return nil
}

// decodeEvents reads the list of events. After one that cannot be read, it goes
// on behind it, wherever reading stopped.
func (d *Decoder) decodeEvents() error {
	n, err := d.cur.array()
	if err != nil {
		return err
	}
	if n > maxEvents {
		return errRange
	}
	for range n {
		start := d.cur.pos
		switch d.decodeEvent() {
		case eventRead:
			continue
		case eventMalformed:
			d.batch.Malformed++
		case eventUnknown:
		}
		d.batch.Skipped++
		d.cur.pos = start
		if err := d.cur.skip(); err != nil {
			return err
		}
	}
	return nil
}

// interner returns the same string for equal bytes. Events repeat a few names
// over and over: media, adapters, salts.
type interner struct {
	names map[string]string
}

const (
	maxInterned     = 1 << 12
	maxInternedSize = 256
)

// intern returns b as a string. When too many names have come by it forgets them
// all and starts anew.
func (i *interner) intern(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if name, ok := i.names[string(b)]; ok {
		return name
	}
	name := string(b)
	if len(b) > maxInternedSize {
		return name
	}
	if i.names == nil || len(i.names) >= maxInterned {
		i.names = make(map[string]string)
	}
	i.names[name] = name
	return name
}
