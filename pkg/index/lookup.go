/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"math"
	"runtime"
	"slices"
	"sync"
)

// Chain is a prompt as block hashes.
type Chain struct {
	// BlockSize in tokens; 0 means that the chain may be of any size.
	BlockSize uint32
	Hashes    []uint64
}

// Query asks who holds a prompt.
type Query struct {
	Tenant, Model string
	// HashScheme restricts the search; empty means every scheme.
	HashScheme string
	Adapter    string
	// Chains has at most one chain per block size.
	Chains []Chain
	// PromptTokens is the length of the whole prompt, 0 when unknown. An engine
	// computes at least the last token of a prompt, so a known length bounds the reuse.
	PromptTokens int
	// Quiet lookups do not count as use of what they find.
	Quiet bool
}

// Hit is what one holder will reuse of a prompt.
type Hit struct {
	Session *Session
	// Tokens that the engine will reuse, and the blocks they make.
	Tokens, Blocks int32
	// Tiers are those of Blocks whose nearest tier is T1, T2 and T3.
	Tiers [3]int32
	// Exact is false when Tokens is a lower bound, or rests on less than the
	// engine's own word.
	Exact bool
	// Inferred is true when Tokens counts inferred blocks.
	Inferred bool
}

// Coldest is the coldest tier among the blocks.
func (h *Hit) Coldest() Tier {
	switch {
	case h.Tiers[2] > 0:
		return T3
	case h.Tiers[1] > 0:
		return T2
	}
	return T1
}

var scratches = sync.Pool{New: func() any { return &scratch{} }}

// Lookup appends the hits of a query to dst, in no order. A holder that certainly
// reuses nothing is not among them; one that may is, with Exact false.
//
// It takes no lock, and what it says of one hash scheme was so at one moment: it
// looks again when the writer was in the way, and asks the writer to wait when
// that was so again and again.
func (x *Index) Lookup(q *Query, dst []Hit) ([]Hit, Knowledge) {
	schemes, known := x.schemes(q.Tenant, q.Model, q.HashScheme)
	if len(schemes) == 0 {
		return dst, known
	}
	sc := scratches.Get().(*scratch)
	for _, s := range schemes {
		dst = x.lookup(sc, s, q, dst)
	}
	scratches.Put(sc)
	return dst, known
}

// attempts is how often a lookup that was disturbed tries again before it takes
// the lock. One takes a microsecond, so that much is a slice of a writer's time.
const attempts = 32

func (x *Index) lookup(sc *scratch, s *scheme, q *Query, dst []Hit) []Hit {
	defer sc.release()
	for i := range attempts {
		if hits, ok := x.attempt(sc, s, q, dst); ok {
			return hits
		}
		if i%4 == 3 {
			runtime.Gosched() // the writer may wait for this processor
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	dst, _ = x.attempt(sc, s, q, dst)
	return dst
}

// attempt scans each directory once and then asks, holder by holder, how far the
// rules of its groups let it reuse the prompt. It reports false when the writer
// was in the way.
func (x *Index) attempt(sc *scratch, s *scheme, q *Query, dst []Hit) ([]Hit, bool) {
	shape := x.shape.Load()
	if shape%2 != 0 {
		return dst, false
	}
	sc.reset()
	f := s.families.get(q.Adapter)
	if f != nil {
		for _, d := range f.directories.all() {
			if hashes := q.hashes(d.blockSize); len(hashes) > 0 && !sc.scan(d, hashes) {
				return dst, false
			}
		}
	}
	hits := sc.hits(f, s.unsure.all(), dst)
	if !sc.stable() || x.shape.Load() != shape {
		return dst, false
	}
	if !q.Quiet {
		sc.touch()
	}
	return hits, true
}

// hashes returns the part of a chain that can be reused, for a block size.
func (q *Query) hashes(size uint32) []uint64 {
	for i := range q.Chains {
		c := &q.Chains[i]
		if c.BlockSize != size && c.BlockSize != 0 {
			continue
		}
		if q.PromptTokens > 0 {
			return c.Hashes[:min(len(c.Hashes), (q.PromptTokens-1)/int(size))]
		}
		return c.Hashes
	}
	return nil
}

// hits appends what every holder that was met reuses, and the holders who know
// that they have more than they reported and so may reuse the prompt.
func (sc *scratch) hits(f *family, unsure []*Session, dst []Hit) []Hit {
	sc.nextTurn()
	sc.holders = sc.holders[:0]
	dst = slices.Grow(dst, len(sc.reaches))
	prompt, seats, size := int32(none), []seat(nil), uint32(0)
	for i := range sc.reaches {
		r := &sc.reaches[i]
		if r.prompt != prompt {
			prompt = r.prompt
			d := sc.prompts[prompt].directory
			seats, size = *d.seats.Load(), d.blockSize
		}
		s := seats[r.unit].shown.Load()
		if s == nil {
			continue
		}
		if r.member == none {
			dst = dst[:len(dst)+1]
			h, blocks := &dst[len(dst)-1], r.depth[1]
			h.Session, h.Blocks, h.Inferred = s, blocks, false
			h.Tiers[0], h.Tiers[1], h.Tiers[2] = blocks, 0, 0
			h.Tokens = int32(min(int64(blocks)*int64(size), math.MaxInt32))
			h.Exact = r.depth[2] == r.depth[0] && s.Exact()
			if r.rest() {
				r.complete(h)
			}
			if len(unsure) > 0 {
				m, _ := sc.mark(s)
				m.at = none
			}
			continue
		}
		m, known := sc.mark(s)
		// While the writer is in the way a holder may be seen with one group and with
		// several, or a number as that of two holders.
		if !known || m.at == none {
			m.at = int32(len(sc.holders))
			sc.holders = append(sc.holders, holderReach{s, none})
		}
		h := &sc.holders[m.at]
		sc.members[r.member].next, h.first = h.first, int32(i)
	}
	for _, h := range sc.holders {
		n := len(dst)
		if dst = append(dst, Hit{Session: h.session}); !sc.hit(f, h.first, &dst[n]) {
			dst = dst[:n]
			sc.sessions[h.session.number].turn-- // it is not listed
		}
	}
	for _, s := range unsure {
		if _, listed := sc.mark(s); !listed {
			dst = append(dst, Hit{Session: s})
		}
	}
	return dst
}

// mark returns the mark of a session and whether it had one in this turn.
func (sc *scratch) mark(s *Session) (m *mark32, known bool) {
	if n := int(s.number); n >= len(sc.sessions) {
		sc.sessions = append(sc.sessions, make([]mark32, n+1-len(sc.sessions))...)
	}
	m = &sc.sessions[s.number]
	known = m.turn == sc.turn
	m.turn = sc.turn
	return m, known
}

// hit applies the reuse rules of a holder's groups. It reports false when the
// holder certainly reuses nothing.
func (sc *scratch) hit(f *family, from int32, h *Hit) bool {
	if blocks, ok := sc.simple(from); ok {
		size := int64(sc.prompts[sc.reaches[from].prompt].directory.blockSize)
		h.Tokens, h.Blocks, h.Tiers[0] = int32(min(int64(blocks)*size, math.MaxInt32)), blocks, blocks
		h.Exact = h.Session.Exact()
		return blocks > 0
	}
	r := sc.rules(f, h.Session.current.Load().plans.all(), from)
	if len(r.groups) == 0 {
		return false
	}
	announced := sc.reusable(&r, announcedMask, 0)
	likely, upper := announced, announced
	if r.doubted {
		likely = max(announced, sc.reusable(&r, announcedMask|inferredMask, 1))
		upper = sc.reusable(&r, announcedMask|inferredMask|possibleMask, 2)
	}
	h.Tokens, h.Blocks, h.Tiers = int32(min(likely, math.MaxInt32)), int32(likely/r.blockSize), sc.tiers(&r, likely)
	h.Inferred, h.Exact = likely > announced, upper == announced && !r.unchecked && h.Session.Exact()
	return likely > 0 || upper > 0
}

// rest reports whether a unit has blocks outside T1 or that were not announced.
func (r *reach) rest() bool { return r.cold[0]|r.cold[1] != 0 || r.depth[1] != r.depth[0] }

// complete tells of them in the hit of an engine with one full-attention group.
func (r *reach) complete(h *Hit) {
	h.Tiers[0], h.Tiers[1], h.Tiers[2] = h.Blocks-r.cold[0]-r.cold[1], r.cold[0], r.cold[1]
	h.Inferred = h.Blocks > r.depth[0]
}
