/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import (
	"slices"
	"testing"
)

// candidates returns what a table offers for a key.
func (t *table) candidates(key uint64) (numbers []uint32, hops int) {
	f := t.find(key)
	for i := f.next(); i != none; i = f.next() {
		numbers = append(numbers, i)
	}
	return numbers, f.hops
}

// TestTable fills tables of some sizes as far as they get, replaces every key many
// times, and finds what is there, and little else, in few buckets.
func TestTable(t *testing.T) {
	for _, buckets := range []int{1, 2, 3, 50, 3000} {
		random := newRandom(uint64(buckets))
		tb := newTable(random.Uint64())
		tb.buckets = make([]bucket, buckets)
		var keys []uint64
		for !tb.full() {
			// Some keys share everything that the table looks at.
			key := random.Uint64()
			if len(keys) > 0 && random.IntN(50) == 0 {
				key = keys[random.IntN(len(keys))]
			}
			keys = append(keys, key)
			tb.insert(key, uint32(len(keys)))
		}
		for range 10 * len(keys) {
			i := random.IntN(len(keys))
			tb.remove(keys[i], uint32(i+1))
			keys[i] = random.Uint64()
			tb.insert(keys[i], uint32(i+1))
		}
		hops, strangers := 0, 0
		for i, key := range keys {
			found, _ := tb.candidates(key)
			if !slices.Contains(found, uint32(i+1)) {
				t.Fatalf("%d buckets: %x is not found", buckets, key)
			}
			found, n := tb.candidates(^key)
			hops += n
			strangers += len(found)
		}
		if n := len(keys); buckets > 3 && (hops > 2*n || strangers > n/4) {
			t.Errorf("%d buckets: %d further buckets and %d others looked at for %d missing keys", buckets, hops, strangers, n)
		}
		for i, key := range keys {
			tb.remove(key, uint32(i+1))
		}
		for at := range tb.buckets {
			if b := tb.buckets[at]; b != (bucket{numbers: b.numbers}) || b.number(counts) != 0 {
				t.Fatalf("%d buckets: number %d has something left: %+v", buckets, at, b)
			}
		}
	}
}

// TestNumbersRunOut has a slab without numbers: what is announced is refused or
// said to be unbounded, and nothing is mistaken for something else.
func TestNumbersRunOut(t *testing.T) {
	r := newRig(Options{})
	r.send(t, stored(hashes(1), blocks(1), inWindow(0, 9)))
	next := r.blocks.next
	r.blocks.next = 1<<numberBits - spare
	if i := r.name(7); i != none {
		t.Errorf("a hash got number %d", i)
	}
	p := &partial{own: []uint64{1}, hashes: []uint64{9}}
	if r.mark(p, cursor{known: true}, []int{unknownPosition}, []int{0}, []int{0}); len(p.marked) > 0 {
		t.Errorf("%d contents are marked without numbers for them", len(p.marked))
	}
	r.blocks.next = next
	r.send(t, stored(hashes(2), blocks(2, 3), parent(1), inWindow(0, 9)))
	r.checkInvariants(t)
}
