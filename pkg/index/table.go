/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

// table finds blocks by their hashes. It is an extendible hash table: the top
// bits of a hash choose a segment, which is small and splits by itself, so that
// the table grows without ever being copied, and can be read in the order of the
// hashes. A slot has 8 bytes: 20 bits of a scrambled hash, the run, the offset.
type table struct {
	arena *arena
	// secret scrambles hashes, so that nobody can choose hashes that meet in one slot.
	secret uint64
	// depth is the number of top bits that choose an entry of segments.
	depth    uint8
	segments []*segment
	count    int
}

// segment is an open addressing table with linear probing.
type segment struct {
	slots []uint64
	used  int
	// depth is the number of top bits that its hashes share.
	depth uint8
}

const (
	minSlots = 16
	// maxSlots is the size at which a segment splits: a split moves at most so many entries.
	maxSlots = 1 << 12
	// maxTableDepth bounds the number of segments; beyond it segments grow instead.
	maxTableDepth = 20
	tagBits       = 20
	runBits       = 28
)

func newTable(a *arena, secret uint64) table {
	return table{arena: a, secret: secret, segments: []*segment{{slots: make([]uint64, minSlots)}}}
}

// scramble spreads a hash over all bits. It is the finaliser of splitmix64 behind a secret.
func (t *table) scramble(hash uint64) uint64 {
	h := (hash ^ t.secret) * 0xbf58476d1ce4e5b9
	return h ^ h>>31
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

func (t *table) segment(hash uint64) *segment { return t.segments[hash>>(64-t.depth)] }

// home is the first slot to look at, tag what the slot of the hash must show.
func (s *segment) home(scrambled uint64) int {
	return int(scrambled>>tagBits) & (len(s.slots) - 1)
}

func tagOf(scrambled uint64) uint64 { return scrambled & (1<<tagBits - 1) }

func (t *table) hashAt(p place) uint64 {
	r := t.arena.run(p.run)
	return t.arena.words.at(r.words+uint32(p.offset), 1)[0]
}

// find returns where a block lies.
func (t *table) find(hash uint64) (place, bool) {
	s, scrambled := t.segment(hash), t.scramble(hash)
	tag := tagOf(scrambled)
	for i := s.home(scrambled); ; i = (i + 1) & (len(s.slots) - 1) {
		slot := s.slots[i]
		if slot == 0 {
			return place{}, false
		}
		if slot>>(64-tagBits) == tag {
			if p := placeOf(slot); t.hashAt(p) == hash {
				return p, true
			}
		}
	}
}

// insert adds a block that is not there.
func (t *table) insert(hash uint64, p place) {
	s := t.segment(hash)
	for (s.used+1)*5 > len(s.slots)*4 {
		t.grow(hash, s)
		s = t.segment(hash)
	}
	s.put(t.scramble(hash), p)
	t.count++
}

func (s *segment) put(scrambled uint64, p place) {
	i := s.home(scrambled)
	for s.slots[i] != 0 {
		i = (i + 1) & (len(s.slots) - 1)
	}
	s.slots[i] = slotOf(tagOf(scrambled), p)
	s.used++
}

// grow doubles a segment or splits it in two.
func (t *table) grow(hash uint64, s *segment) {
	if len(s.slots) < maxSlots || s.depth == maxTableDepth {
		larger := &segment{slots: make([]uint64, 2*len(s.slots)), depth: s.depth}
		t.move(s, func(uint64) *segment { return larger })
		t.replace(hash, s, larger, larger)
		return
	}
	if s.depth == t.depth {
		doubled := make([]*segment, 2*len(t.segments))
		for i, old := range t.segments {
			doubled[2*i], doubled[2*i+1] = old, old
		}
		t.segments = doubled
		t.depth++
	}
	low := &segment{slots: make([]uint64, maxSlots), depth: s.depth + 1}
	high := &segment{slots: make([]uint64, maxSlots), depth: s.depth + 1}
	t.move(s, func(h uint64) *segment {
		if h>>(63-s.depth)&1 == 0 {
			return low
		}
		return high
	})
	t.replace(hash, s, low, high)
}

func (t *table) move(from *segment, to func(hash uint64) *segment) {
	for _, slot := range from.slots {
		if slot != 0 {
			p := placeOf(slot)
			hash := t.hashAt(p)
			to(hash).put(t.scramble(hash), p)
		}
	}
}

// replace puts two segments, or one twice, where one was.
func (t *table) replace(hash uint64, s, low, high *segment) {
	first, n := t.entries(hash, s)
	for i := range n {
		t.segments[first+i] = low
		if i >= (n+1)/2 {
			t.segments[first+i] = high
		}
	}
}

// entries returns which entries of segments name the segment of a hash.
func (t *table) entries(hash uint64, s *segment) (first, n int) {
	n = 1 << (t.depth - s.depth)
	return int(hash>>(64-t.depth)) &^ (n - 1), n
}

// remove takes a block out that is there.
func (t *table) remove(hash uint64, p place) {
	s, scrambled := t.segment(hash), t.scramble(hash)
	want := slotOf(tagOf(scrambled), p)
	i := s.home(scrambled)
	for s.slots[i] != want {
		i = (i + 1) & (len(s.slots) - 1)
	}
	t.close(s, i)
	s.used--
	t.count--
}

// close fills an emptied slot with those behind it that may move up.
func (t *table) close(s *segment, hole int) {
	last := len(s.slots) - 1
	s.slots[hole] = 0
	for i := (hole + 1) & last; s.slots[i] != 0; i = (i + 1) & last {
		home := s.home(t.scramble(t.hashAt(placeOf(s.slots[i]))))
		if (i-home)&last >= (i-hole)&last {
			s.slots[hole], s.slots[i] = s.slots[i], 0
			hole = i
		}
	}
}

// next returns the segment that holds a hash and the last hash that it may hold.
func (t *table) next(hash uint64) (*segment, uint64) {
	s := t.segment(hash)
	if s.depth == 0 {
		return s, ^uint64(0)
	}
	return s, hash | (1<<(64-s.depth) - 1)
}
