/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTable holds a table against a map, with hashes that are spread and hashes
// that share their top bits, so that segments grow, split and reach the last depth.
func TestTable(t *testing.T) {
	tests := map[string]func(rng *rand.Rand) uint64{
		"spread":        func(rng *rand.Rand) uint64 { return rng.Uint64() },
		"one segment":   func(rng *rand.Rand) uint64 { return rng.Uint64N(1 << 40) },
		"two top bits":  func(rng *rand.Rand) uint64 { return rng.Uint64()&^(1<<62-1) | rng.Uint64N(1<<30) },
		"small numbers": func(rng *rand.Rand) uint64 { return rng.Uint64N(20_000) },
	}
	for name, draw := range tests {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, 7))
			a := &arena{}
			table := newTable(a, 99)
			want := map[uint64]place{}
			for range 60_000 {
				hash := draw(rng)
				p, found := table.find(hash)
				if old, ok := want[hash]; ok != found || p != old {
					t.Fatalf("find(%x) = %v, %t; want %v, %t", hash, p, found, old, ok)
				}
				if found && rng.IntN(2) == 0 {
					table.remove(hash, p)
					delete(want, hash)
					continue
				}
				if !found {
					number := a.newRun(1)
					a.push(a.run(number), hash)
					want[hash] = place{run: number}
					table.insert(hash, want[hash])
				}
			}
			if table.count != len(want) {
				t.Errorf("count = %d, want %d", table.count, len(want))
			}
			if got := readAll(table); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
				t.Errorf("%d hashes in order, want %d", len(got), len(want))
			}
		})
	}
}

// readAll reads a table segment by segment.
func readAll(table *table) []uint64 {
	var all []uint64
	for from := uint64(0); ; {
		segment, last := table.next(from)
		var hashes []uint64
		for _, slot := range segment.slots {
			if slot != 0 {
				hashes = append(hashes, table.hashAt(placeOf(slot)))
			}
		}
		slices.Sort(hashes)
		all = append(all, hashes...)
		if last == ^uint64(0) {
			return all
		}
		from = last + 1
	}
}

func TestPool(t *testing.T) {
	for n := 1; n <= chunkSize; n += 1 + n/7 {
		class := classFor(n)
		if classSize(class) < n || (class > 0 && classSize(class-1) >= n) {
			t.Fatalf("class %d of %d elements is for %d", class, classSize(class), n)
		}
	}
	rng := rand.New(rand.NewPCG(3, 3))
	var p pool[uint64]
	type held struct {
		start uint32
		class uint8
		value uint64
	}
	var spans []held
	for range 20_000 {
		if len(spans) > 0 && rng.IntN(2) == 0 {
			i := rng.IntN(len(spans))
			s := spans[i]
			for _, v := range p.at(s.start, classSize(s.class)) {
				if v != s.value {
					t.Fatal("two spans share an element")
				}
			}
			p.give(s.start, s.class)
			spans[i] = spans[len(spans)-1]
			spans = spans[:len(spans)-1]
			continue
		}
		s := held{class: uint8(rng.IntN(12) + 24*rng.IntN(2)*rng.IntN(2)*rng.IntN(2)*rng.IntN(2)*rng.IntN(2)), value: rng.Uint64()}
		s.start = p.take(s.class)
		for i := range p.at(s.start, classSize(s.class)) {
			p.at(s.start, classSize(s.class))[i] = s.value
		}
		spans = append(spans, s)
	}
	for _, s := range spans {
		p.give(s.start, s.class)
	}
	if p.live != 0 {
		t.Errorf("%d elements are handed out after all came back", p.live)
	}
}
