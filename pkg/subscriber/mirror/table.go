/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import "math/bits"

// table finds blocks by a key of 64 bits. It stores numbers of blocks only; the
// keys are in the blocks, and whoever looks something up compares them.
//
// A bucket is a cache line: slots that are filled from the first one on, and a
// count of the keys that went to a later bucket because this one was full. A
// lookup goes on to the next bucket only while that count says so; a removal
// corrects it, and leaves nothing behind. A slot has some bits of the key, so that
// few other blocks are looked at in vain.
type table struct {
	buckets []bucket
	count   int
	seed    uint64
}

type bucket [16]uint32

const (
	bucketSlots = 15
	// overflow is the position of the count of keys that went further.
	overflow = 15
	// bucketFill is the number of keys per bucket at which a table grows.
	bucketFill = 13

	numberBits = 24
	numberMask = 1<<numberBits - 1
	// maxBlocks is the largest number of engine hashes that a mirror can be told to
	// remember: blocks without a name need numbers, too.
	maxBlocks = 1 << (numberBits - 1)
)

// newTable returns an empty table. The seed is not to be known to those who choose
// keys.
func newTable(seed uint64) table {
	return table{buckets: make([]bucket, 1), seed: seed}
}

// spread makes a key uniform. Which keys share a bucket depends on the seed.
func (t *table) spread(key uint64) uint64 {
	high, low := bits.Mul64(key^t.seed, 0x9e3779b97f4a7c15^t.seed>>1|1)
	return high ^ low
}

// home is the bucket of a key.
func (t *table) home(spread uint64) int {
	high, _ := bits.Mul64(spread, uint64(len(t.buckets)))
	return int(high)
}

// tagged returns what a slot holds. The bucket is chosen by the upper bits of the
// key, the tag by the lower ones.
func tagged(spread uint64, i uint32) uint32 { return uint32(spread)<<numberBits | i }

// finder walks over the blocks that may have a key.
type finder struct {
	t       *table
	tag     uint32
	bucket  int
	slot    int
	visited int
}

func (t *table) find(key uint64) finder {
	spread := t.spread(key)
	return finder{t: t, tag: tagged(spread, 0), bucket: t.home(spread)}
}

// next returns the next candidate, or none.
func (f *finder) next() uint32 {
	for {
		b := &f.t.buckets[f.bucket]
		for f.slot < bucketSlots && b[f.slot] != 0 {
			slot := b[f.slot]
			f.slot++
			if slot&^numberMask == f.tag {
				return slot & numberMask
			}
		}
		f.visited++
		if b[overflow] == 0 || f.visited > len(f.t.buckets) {
			return none
		}
		f.slot, f.bucket = 0, f.t.after(f.bucket)
	}
}

func (t *table) after(bucket int) int {
	if bucket++; bucket < len(t.buckets) {
		return bucket
	}
	return 0
}

// full reports whether the table has to grow before the next insertion.
func (t *table) full() bool { return t.count >= len(t.buckets)*bucketFill }

// doubled is the number of buckets up to which a table doubles. Larger ones grow
// in smaller steps, which cost more work in all and less memory at any time.
const doubled = 1 << 11

// grown returns an empty table with more room.
func (t *table) grown() table {
	n := 2 * len(t.buckets)
	if n > doubled {
		n = len(t.buckets) + len(t.buckets)/8
	}
	return table{buckets: make([]bucket, n), seed: t.seed}
}

// insert adds a block whose key the table does not have to know.
func (t *table) insert(key uint64, i uint32) {
	spread := t.spread(key)
	for at := t.home(spread); ; at = t.after(at) {
		b := &t.buckets[at]
		for slot := range bucketSlots {
			if b[slot] == 0 {
				b[slot] = tagged(spread, i)
				t.count++
				return
			}
		}
		b[overflow]++
	}
}

// remove takes a block out that is there under this key.
func (t *table) remove(key uint64, i uint32) {
	spread := t.spread(key)
	want := tagged(spread, i)
	for at := t.home(spread); ; at = t.after(at) {
		b := &t.buckets[at]
		last := bucketSlots - 1
		for last >= 0 && b[last] == 0 {
			last--
		}
		for slot := 0; slot <= last; slot++ {
			if b[slot] == want {
				b[slot], b[last] = b[last], 0
				t.count--
				return
			}
		}
		b[overflow]--
	}
}
