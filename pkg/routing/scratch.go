/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"inferencecache.io/inference-cache/pkg/index"
)

// keptWords bounds what a scratch keeps between lookups: a prompt of 128 Ki
// tokens in blocks of 16. What one giant prompt needed is not kept for the others.
const keptWords = 8192

// scratch is the memory of a lookup, used again by later ones.
type scratch struct {
	roster

	chains []index.Chain
	hashes []uint64
	query  index.Query
	hits   []index.Hit
	// places has the position of each of hits in the fleet.
	places []int32
	// sums are the tokens of the caller's first blocks.
	sums  []int32
	order []standing
	base  base
}

// reset forgets a lookup but for the fleet, which the next one may ask for again.
// A fleet that nobody asks for goes when the pool lets go of unused scratches, and
// with it the sessions that the index has dropped.
func (s *scratch) reset() {
	clear(s.chains)
	clear(s.hits)
	s.query, s.base = index.Query{}, base{}
	s.chains, s.hits = s.chains[:0], s.hits[:0]
	if cap(s.hashes) > keptWords {
		s.hashes = nil
	}
	if cap(s.sums) > keptWords {
		s.sums = nil
	}
}
