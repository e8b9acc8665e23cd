/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"time"

	"inferencecache.io/inference-cache/pkg/index"
)

// keptWords bounds what a scratch keeps between lookups: a prompt of 128 Ki
// tokens in blocks of 16. What one giant prompt needed is not kept for the others.
const keptWords = 8192

// scratch is the memory of a lookup, used again by later ones.
type scratch struct {
	chains   []index.Chain
	hashes   []uint64
	query    index.Query
	hits     []index.Hit
	sessions []*index.Session
	// loads are those of sessions, in the same order; places has the position of
	// each of hits in them.
	loads  []load
	places []int32
	// slots finds a session's position, by its number.
	slots []int32
	// sums are the tokens of the caller's first blocks.
	sums  []int32
	order []standing
	base  base
	// oldest is the time before which statistics are stale.
	oldest time.Time
}

// reset forgets a lookup. Sessions that the index has dropped must not be kept.
func (s *scratch) reset() {
	clear(s.chains)
	clear(s.hits)
	clear(s.sessions)
	s.query, s.base = index.Query{}, base{}
	s.chains, s.hits, s.sessions = s.chains[:0], s.hits[:0], s.sessions[:0]
	if cap(s.hashes) > keptWords {
		s.hashes = nil
	}
	if cap(s.sums) > keptWords {
		s.sums = nil
	}
}
