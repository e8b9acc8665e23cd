/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import "math/bits"

// table finds blocks by a key of 64 bits. It stores numbers of blocks only; the
// keys are in the blocks, and whoever looks something up compares them.
//
// A bucket is a cache line: slots with a number and a tag, which is some bits of
// the key, and counts of the keys that went on to another bucket because this one
// was full: of those that it was the first bucket for, and of the others. A lookup
// compares all tags of a bucket at once, and goes on only while the count says so;
// a removal corrects it, and leaves nothing behind. The second bucket of a key
// depends on its tag, so that a full bucket does not fill the next one; after that
// it is one bucket after the other.
type table struct {
	buckets []bucket
	count   int
	seed    uint64
}

type bucket struct {
	// tags has one byte a slot, 0 where it is empty.
	tags    [2]uint64
	numbers [16][3]byte
}

const (
	// counts is the slot without a tag. The lower half of its number counts the keys
	// that left their first bucket, the upper half those that passed. A count that
	// has reached its end stays there.
	counts    = 15
	countBits = 12
	countMask = 1<<countBits - 1
	// kept is the number of free slots below which a key goes to its second bucket if
	// that is emptier. Without it, keys that come and go leave more and more of the
	// others behind in a later bucket.
	kept = 4
	// bucketFill is the number of keys per bucket at which a table grows.
	bucketFill = 13

	numberBits = 24
	// maxBlocks is the largest number of engine hashes that a mirror can be told to
	// remember: blocks without a name need numbers, too.
	maxBlocks = 1 << (numberBits - 1)

	everyByte = 0x0101010101010101
	lowBits   = 0x7f * everyByte
	// slotsOfSecond are the bytes of the second word of tags that are slots.
	slotsOfSecond = 1<<56 - 1
)

func (b *bucket) number(slot int) uint32 {
	n := &b.numbers[slot]
	return uint32(n[0]) | uint32(n[1])<<8 | uint32(n[2])<<16
}

func (b *bucket) setNumber(slot int, i uint32) {
	b.numbers[slot] = [3]byte{byte(i), byte(i >> 8), byte(i >> 16)}
}

// tagged returns the bytes of a word that equal a tag, as their upper bits.
func tagged(word, tag uint64) uint64 {
	x := word ^ tag*everyByte
	return ^(x&lowBits + lowBits | x | lowBits)
}

// matches returns the slots of a bucket with a tag, as the upper bits of bytes.
func (b *bucket) matches(tag uint64) (first, second uint64) {
	return tagged(b.tags[0], tag), tagged(b.tags[1], tag) & slotsOfSecond
}

// free returns the number of empty slots, and one of them.
func (b *bucket) free() (room, slot int) {
	first, second := b.matches(0)
	room = bits.OnesCount64(first) + bits.OnesCount64(second)
	if first != 0 {
		return room, bits.TrailingZeros64(first) / 8
	}
	return room, 8 + bits.TrailingZeros64(second)/8
}

// left returns how many keys went on from here after so many hops.
func (b *bucket) left(hops int) uint32 {
	if hops == 0 {
		return b.number(counts) & countMask
	}
	return b.number(counts) >> countBits
}

// count notes that a key that had made so many hops went on, or is gone.
func (b *bucket) count(hops, by int) {
	n := b.left(hops)
	if n == countMask {
		return
	}
	n = uint32(int(n) + by)
	if both := b.number(counts); hops == 0 {
		b.setNumber(counts, both&^countMask|n)
	} else {
		b.setNumber(counts, both&countMask|n<<countBits)
	}
}

func (b *bucket) setTag(slot int, tag uint64) {
	word, shift := &b.tags[slot/8], slot%8*8
	*word = *word&^(0xff<<shift) | tag<<shift
}

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

// tagOf returns the tag of a key, which is not 0. The bucket is chosen by the upper
// bits of the key, the tag by the lower ones.
func tagOf(spread uint64) uint64 {
	return max(1, spread&0xff)
}

// hop returns the bucket that a key goes to when the one it came to after some hops
// is full. Enough of them lead to every bucket.
func (t *table) hop(at, hops int, tag uint64) int {
	step := 1
	if hops == 0 {
		step = int(tag)
	}
	if at += step; at >= len(t.buckets) {
		at %= len(t.buckets)
	}
	return at
}

// finder walks over the blocks that may have a key.
type finder struct {
	t             *table
	first, second uint64
	tag           uint64
	at, hops      int
}

func (t *table) find(key uint64) finder {
	spread := t.spread(key)
	f := finder{t: t, tag: tagOf(spread), at: t.home(spread)}
	f.first, f.second = t.buckets[f.at].matches(f.tag)
	return f
}

// next returns the next candidate, or none.
func (f *finder) next() uint32 {
	for {
		b := &f.t.buckets[f.at]
		if f.first != 0 {
			slot := bits.TrailingZeros64(f.first) / 8
			f.first &= f.first - 1
			return b.number(slot)
		}
		if f.second != 0 {
			slot := 8 + bits.TrailingZeros64(f.second)/8
			f.second &= f.second - 1
			return b.number(slot)
		}
		if b.left(f.hops) == 0 || f.hops > len(f.t.buckets) {
			return none
		}
		f.at = f.t.hop(f.at, f.hops, f.tag)
		f.hops++
		f.first, f.second = f.t.buckets[f.at].matches(f.tag)
	}
}

// touch looks into the buckets of a key, and returns what makes it be done.
func (t *table) touch(key uint64) uint64 {
	spread := t.spread(key)
	home := t.home(spread)
	return t.buckets[home].tags[0] ^ t.buckets[t.hop(home, 0, tagOf(spread))].tags[0]
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
	at, tag := t.home(spread), tagOf(spread)
	for hops := 0; ; hops++ {
		b := &t.buckets[at]
		room, slot := b.free()
		if hops == 0 && room < kept {
			if other, _ := t.buckets[t.hop(at, hops, tag)].free(); other > room {
				room = 0
			}
		}
		if room > 0 {
			b.setTag(slot, tag)
			b.setNumber(slot, i)
			t.count++
			return
		}
		b.count(hops, 1)
		at = t.hop(at, hops, tag)
	}
}

// remove takes a block out that is there under this key.
func (t *table) remove(key uint64, i uint32) {
	spread := t.spread(key)
	at, tag := t.home(spread), tagOf(spread)
	for hops := 0; ; hops++ {
		b := &t.buckets[at]
		first, second := b.matches(tag)
		for ; first != 0; first &= first - 1 {
			if slot := bits.TrailingZeros64(first) / 8; b.number(slot) == i {
				b.setTag(slot, 0)
				t.count--
				return
			}
		}
		for ; second != 0; second &= second - 1 {
			if slot := 8 + bits.TrailingZeros64(second)/8; b.number(slot) == i {
				b.setTag(slot, 0)
				t.count--
				return
			}
		}
		b.count(hops, -1)
		at = t.hop(at, hops, tag)
	}
}
