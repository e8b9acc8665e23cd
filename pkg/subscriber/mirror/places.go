/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import (
	"cmp"
	"slices"
)

// bunch are the contents of a scope that are in the same places.
type bunch struct {
	scope uint32
	// places are in order, and at least one.
	places []Place
	blocks []uint32
}

// placeSets are all contents that are reported, by where they are.
type placeSets struct {
	bunches []*bunch
	// of has, for the number of a block, that of its bunch, from 1 on.
	of []uint32
}

// bunchKey is a scope and a set of lanes that are reported as usual.
type bunchKey struct {
	scope uint32
	told  uint8
}

// placeSets sorts the contents. Which places a content is in is known from its
// block alone, unless it is special.
func (m *Mirror) placeSets() *placeSets {
	sets := &placeSets{of: make([]uint32, m.blocks.next)}
	ordinary := map[bunchKey]uint32{}
	for i := uint32(1); i < m.blocks.next; i++ {
		b := m.at(i)
		key := bunchKey{b.scope(), b.told}
		n, known := uint32(0), false
		if !b.special() {
			if b.told == 0 {
				continue
			}
			n, known = ordinary[key]
		}
		if !known {
			if n = sets.find(b.scope(), m.placesOf(i)); n == 0 {
				continue
			}
			if !b.special() {
				ordinary[key] = n
			}
		}
		sets.of[i] = n
		sets.bunches[n-1].blocks = append(sets.bunches[n-1].blocks, i)
	}
	return sets
}

// placesOf returns the places in which a content is reported, in order.
func (m *Mirror) placesOf(i uint32) []Place {
	var places []Place
	m.reported(i, func(l uint8, c Certainty) {
		places = append(places, Place{m.lanes[l].group, m.lanes[l].tier, c})
	})
	slices.SortFunc(places, comparePlaces)
	return places
}

// find returns the number of the bunch of some places, 0 for no place. There are
// few bunches.
func (s *placeSets) find(scope uint32, places []Place) uint32 {
	if len(places) == 0 {
		return 0
	}
	for n, b := range s.bunches {
		if b.scope == scope && slices.Equal(b.places, places) {
			return uint32(n) + 1
		}
	}
	s.bunches = append(s.bunches, &bunch{scope: scope, places: places})
	return uint32(len(s.bunches))
}

// sorted returns the bunches in an order that follows from what they are.
func (s *placeSets) sorted() []*bunch {
	sorted := slices.Clone(s.bunches)
	slices.SortFunc(sorted, func(a, b *bunch) int {
		return cmp.Or(cmp.Compare(a.scope, b.scope), slices.CompareFunc(a.places, b.places, comparePlaces))
	})
	return sorted
}

func comparePlaces(a, b Place) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Tier, b.Tier), cmp.Compare(a.Certainty, b.Certainty))
}
