/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"math/bits"
	"sync/atomic"
)

// table finds blocks by their hashes. It is an extendible hash table: the top
// bits of a hash choose a segment, which is small and splits by itself, so that
// the table grows without ever being copied, and can be read in the order of the
// hashes. A slot has 8 bytes: a tag of 20 bits of the scrambled hash, the run,
// the offset. The tag alone says where in a segment a slot belongs, so that
// changes of a segment read no hashes.
//
// One writer changes a table; readers may look for blocks meanwhile.
type table struct {
	arena *arena
	// secret scrambles hashes, so that nobody can choose hashes that meet in one slot.
	secret   uint64
	segments atomic.Pointer[segments]
	count    int
	// slots and hashes are the working memory of a split.
	slots, hashes []uint64
	// fetched has no meaning.
	fetched uint64
}

// segments are chosen by the top depth bits of a hash.
type segments struct {
	depth uint8
	at    []atomic.Pointer[segment]
}

// segment is an open addressing table with linear probing. Its version is odd
// while slots move.
type segment struct {
	version atomic.Uint32
	// depth is the number of top bits that its hashes share.
	depth uint8
	used  int
	slots []uint64
}

const (
	minSlots = 16
	// maxSlots is the size at which a segment splits: a split moves at most so many entries.
	maxSlots = 1 << 11
	// maxTableDepth bounds the number of segments; beyond it segments grow instead.
	maxTableDepth = 20
	tagBits       = 20
	runBits       = 28
	// A segment grows when more than fullSlots in fullOf are used.
	fullSlots, fullOf = 4, 5
)

func newTable(a *arena, secret uint64) *table {
	t := &table{arena: a, secret: secret}
	all := &segments{at: make([]atomic.Pointer[segment], 1)}
	all.at[0].Store(t.newSegment(minSlots, 0))
	t.segments.Store(all)
	return t
}

func (t *table) newSegment(slots int, depth uint8) *segment {
	t.arena.slots += slots
	return &segment{slots: make([]uint64, slots), depth: depth}
}

// release forgets the memory of a table that is no longer used.
func (t *table) release() {
	all := t.segments.Load()
	for i := range all.at {
		if s := all.at[i].Load(); i == 0 || s != all.at[i-1].Load() {
			t.arena.slots -= len(s.slots)
		}
	}
}

// slotsFor returns the number of slots for some entries: the smallest that is not
// full. Four sizes for each power of two keep seven of ten slots in use.
func slotsFor(entries int) int {
	n := minSlots
	for entries*fullOf > n*fullSlots {
		n += max(minSlots, 1<<(bits.Len(uint(n))-1)/4)
	}
	return n
}

// tag is what the slot of a hash must show. It is from the finaliser of
// splitmix64 behind a secret.
func (t *table) tag(hash uint64) uint64 {
	h := (hash ^ t.secret) * 0xbf58476d1ce4e5b9
	return (h ^ h>>31) * 0x94d049bb133111eb >> (64 - tagBits)
}

// place is where a block lies.
type place struct {
	run    uint32
	offset uint16
}

func slotOf(tag uint64, p place) uint64 {
	return tag<<(64-tagBits) | uint64(p.run+1)<<16 | uint64(p.offset)
}

func placeOf(slot uint64) place {
	return place{run: uint32(slot>>16)&(1<<runBits-1) - 1, offset: uint16(slot)}
}

func tagOf(slot uint64) uint64 { return slot >> (64 - tagBits) }

// home is the first slot to look at for a tag.
func (s *segment) home(tag uint64) int {
	return int(tag * uint64(len(s.slots)) >> tagBits)
}

// after is the slot behind one.
func (s *segment) after(i int) int {
	if i++; i < len(s.slots) {
		return i
	}
	return 0
}

func (t *table) segment(hash uint64) *segment {
	all := t.segments.Load()
	return all.at[hash>>(64-all.depth)].Load()
}

func (t *table) hashAt(p place) uint64 {
	return t.arena.words.rest(uint32(t.arena.run(p.run).spans.Load() >> 32))[p.offset]
}

// ahead is how many hashes a change looks up together: about as many reads of
// memory as a processor has under way at once, several times.
const ahead = 64

// fetch reads the slots at which the search for some hashes begins. They lie
// anywhere in memory; reading them together costs little more than reading one.
func (t *table) fetch(hashes []uint64) {
	for _, hash := range hashes[:min(len(hashes), ahead)] {
		s := t.segment(hash)
		t.fetched ^= s.slots[s.home(t.tag(hash))]
	}
}

// find returns where a block lies, for the writer.
func (t *table) find(hash uint64) (place, bool) {
	s, tag := t.segment(hash), t.tag(hash)
	for i := s.home(tag); s.slots[i] != 0; i = s.after(i) {
		if tagOf(s.slots[i]) == tag {
			if p := placeOf(s.slots[i]); t.hashAt(p) == hash {
				return p, true
			}
		}
	}
	return place{}, false
}

// look returns where a block lies, beside the writer. It is not steady when the
// writer was in the way; look again then.
func (t *table) look(hash uint64) (p place, found, steady bool) {
	s, tag := t.segment(hash), t.tag(hash)
	version := s.version.Load()
	for i := s.home(tag); ; i = s.after(i) {
		slot := atomic.LoadUint64(&s.slots[i])
		if slot == 0 {
			return place{}, false, version%2 == 0 && s.version.Load() == version
		}
		if tagOf(slot) != tag {
			continue
		}
		p := placeOf(slot)
		switch word, steady := t.arena.peek(p); {
		case !steady:
			return place{}, false, false
		case word == hash:
			return p, true, true
		}
	}
}

// insert adds a block that is not there.
func (t *table) insert(hash uint64, p place) {
	s := t.segment(hash)
	for (s.used+1)*fullOf > len(s.slots)*fullSlots {
		t.grow(hash, s)
		s = t.segment(hash)
	}
	tag := t.tag(hash)
	i := s.home(tag)
	for s.slots[i] != 0 {
		i = s.after(i)
	}
	s.used++
	t.count++
	atomic.StoreUint64(&s.slots[i], slotOf(tag, p))
}

// put adds a slot to a segment that no reader sees yet.
func (s *segment) put(slot uint64) {
	i := s.home(tagOf(slot))
	for s.slots[i] != 0 {
		i = s.after(i)
	}
	s.slots[i] = slot
	s.used++
}

// grow gives a segment more slots or splits it in two.
func (t *table) grow(hash uint64, s *segment) {
	t.arena.slots -= len(s.slots)
	all := t.segments.Load()
	if len(s.slots) < maxSlots || s.depth == maxTableDepth {
		larger := t.newSegment(slotsFor(len(s.slots)*fullSlots/fullOf+1), s.depth)
		for _, slot := range s.slots {
			if slot != 0 {
				larger.put(slot)
			}
		}
		all.replace(hash, s, larger, larger)
		return
	}
	if s.depth == all.depth {
		all = all.doubled()
		t.segments.Store(all)
	}
	low, high := t.split(s)
	all.replace(hash, s, low, high)
}

// split shares the entries of a segment among two by the next bit of their hashes.
// Reading the hashes is what it costs, and a processor waits for many of them at
// once when nothing depends on any of them.
func (t *table) split(s *segment) (low, high *segment) {
	slots, hashes := t.slots[:0], t.hashes[:0]
	for _, slot := range s.slots {
		if slot != 0 {
			slots = append(slots, slot)
		}
	}
	highs := 0
	for _, slot := range slots {
		hash := t.hashAt(placeOf(slot)) >> (63 - s.depth) & 1
		hashes = append(hashes, hash)
		highs += int(hash)
	}
	low = t.newSegment(slotsFor((len(slots)-highs)*5/4), s.depth+1)
	high = t.newSegment(slotsFor(highs*5/4), s.depth+1)
	for i, slot := range slots {
		if hashes[i] == 0 {
			low.put(slot)
		} else {
			high.put(slot)
		}
	}
	t.slots, t.hashes = slots, hashes
	return low, high
}

// doubled returns segments with one more bit of depth.
func (a *segments) doubled() *segments {
	doubled := &segments{depth: a.depth + 1, at: make([]atomic.Pointer[segment], 2*len(a.at))}
	for i := range a.at {
		s := a.at[i].Load()
		doubled.at[2*i].Store(s)
		doubled.at[2*i+1].Store(s)
	}
	return doubled
}

// replace puts two segments, or one twice, where one was.
func (a *segments) replace(hash uint64, s, low, high *segment) {
	n := 1 << (a.depth - s.depth)
	first := int(hash>>(64-a.depth)) &^ (n - 1)
	for i := range n {
		if i < (n+1)/2 {
			a.at[first+i].Store(low)
		} else {
			a.at[first+i].Store(high)
		}
	}
}

// remove takes a block out that is there.
func (t *table) remove(hash uint64, p place) {
	s, tag := t.segment(hash), t.tag(hash)
	want := slotOf(tag, p)
	i := s.home(tag)
	for s.slots[i] != want {
		i = s.after(i)
	}
	s.close(i)
	s.used--
	t.count--
}

// close fills an emptied slot with those behind it that may move up.
func (s *segment) close(hole int) {
	s.version.Store(s.version.Load() + 1)
	n := len(s.slots)
	for i := s.after(hole); s.slots[i] != 0; i = s.after(i) {
		home := s.home(tagOf(s.slots[i]))
		if (i-home+n)%n >= (i-hole+n)%n {
			atomic.StoreUint64(&s.slots[hole], s.slots[i])
			hole = i
		}
	}
	atomic.StoreUint64(&s.slots[hole], 0)
	s.version.Store(s.version.Load() + 1)
}

// next returns the segment that holds a hash and the last hash that it may hold.
func (t *table) next(hash uint64) (*segment, uint64) {
	s := t.segment(hash)
	if s.depth == 0 {
		return s, ^uint64(0)
	}
	return s, hash | (1<<(64-s.depth) - 1)
}
