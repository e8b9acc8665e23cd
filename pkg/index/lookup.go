/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"math"
	"slices"
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

// Lookup appends the hits of a query to dst, in no order. A holder that certainly
// reuses nothing is not among them; one that may is, with Exact false.
func (x *Index) Lookup(q *Query, dst []Hit) ([]Hit, Knowledge) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	schemes, known := x.catalog.schemes(q.Tenant, q.Model, q.HashScheme)
	start := len(dst)
	for _, scheme := range schemes {
		if f := x.families[familyKey{q.Tenant, q.Model, scheme, q.Adapter}]; f != nil {
			dst = f.lookup(q, dst)
		}
	}
	if len(x.unsure) > 0 && known == Known {
		dst = x.addUnsure(q, dst, start)
	}
	return dst, known
}

// addUnsure adds the holders that know they hold more than they could report and
// are not among the matches from start on: they may reuse the prompt.
func (x *Index) addUnsure(q *Query, dst []Hit, start int) []Hit {
	for s := range x.unsure {
		h := s.hello
		if h.Tenant != q.Tenant || h.Model != q.Model || (q.HashScheme != "" && h.HashScheme != q.HashScheme) {
			continue
		}
		listed := slices.ContainsFunc(dst[start:], func(m Hit) bool { return m.Session == s })
		if !listed {
			dst = append(dst, Hit{Session: s})
		}
	}
	return dst
}

// lookup scans each directory once and then asks, holder by holder, how far the
// rules of its groups let it reuse the prompt.
func (f *family) lookup(q *Query, dst []Hit) []Hit {
	sc := scratches.Get().(*scratch)
	defer sc.release()
	for size, d := range f.directories {
		if hashes := q.hashes(size); len(hashes) > 0 {
			sc.scan(d, hashes)
		}
	}
	for _, t := range sc.single {
		if m, ok := t.match(); ok {
			dst = append(dst, m)
		}
	}
	for s := range sc.touched {
		if m, ok := sc.match(f, s); ok {
			dst = append(dst, m)
		}
	}
	return dst
}

// hashes returns the part of a chain that can be reused, for a block size.
func (q *Query) hashes(size uint32) []uint64 {
	for _, c := range q.Chains {
		if c.BlockSize != size && c.BlockSize != 0 {
			continue
		}
		hashes := c.Hashes
		if q.PromptTokens > 0 {
			hashes = hashes[:min(len(hashes), (q.PromptTokens-1)/int(size))]
		}
		return hashes
	}
	return nil
}

// match applies the reuse rules of a holder's groups.
func (sc *scratch) match(f *family, s *Session) (Hit, bool) {
	r := sc.rules(f, s)
	if len(r.full)+len(r.partial) == 0 {
		return Hit{}, false
	}
	announced := r.reusable(announcedMask, 0)
	likely := max(announced, r.reusable(announcedMask|inferredMask, 1))
	upper := r.reusable(announcedMask|inferredMask|possibleMask, 2)
	if likely == 0 && upper == 0 {
		return Hit{}, false
	}
	m := s.hitOf(likely, likely/r.blockSize)
	m.Tiers[r.coldest(likely)-1] = m.Blocks
	m.Inferred = likely > announced
	m.Exact = m.Exact && upper == likely && !m.Inferred && !r.unchecked
	return m, true
}

// match is the rule of an engine with one full-attention group, which most have.
func (t *single) match() (Hit, bool) {
	depth := t.reach.depth
	if depth[2] == 0 {
		return Hit{}, false
	}
	tier := T1
	switch {
	case depth[1] > t.reach.warm[1]:
		tier = T3
	case depth[1] > t.reach.warm[0]:
		tier = T2
	}
	m := t.unit.holding.session.hitOf(depth[1]*int(t.unit.group.BlockSize), depth[1])
	m.Tiers[tier-1] = m.Blocks
	m.Inferred = depth[1] > depth[0]
	m.Exact = m.Exact && depth[2] == depth[0]
	return m, true
}

// hitOf is a hit of this holder. It is exact as far as the holder is.
func (s *Session) hitOf(tokens, blocks int) Hit {
	return Hit{Session: s, Tokens: int32(min(tokens, math.MaxInt32)), Blocks: int32(blocks), Exact: !s.current.confidence.unsure()}
}
