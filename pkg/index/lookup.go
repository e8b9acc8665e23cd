/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"slices"
	"time"
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
}

// Match is what one holder will reuse of a prompt.
type Match struct {
	Holder     Holder
	Backend    Backend
	HashScheme string
	State      State
	// Tokens that the engine will reuse, and the blocks they make.
	Tokens, Blocks int
	// Tier is the coldest tier among these blocks.
	Tier Tier
	// Exact is false when Tokens is a lower bound, or rests on less than the
	// engine's own word.
	Exact bool
	// Inferred is true when Tokens counts inferred blocks.
	Inferred bool
	// Sequence is the holder's last applied delta.
	Sequence  uint64
	LastEvent time.Time
	Stats     *Stats
}

// Lookup appends the matches of a query to dst, ordered by holder. A holder that
// certainly reuses nothing is not among them; one that may is, with Exact false.
func (x *Index) Lookup(q Query, dst []Match) ([]Match, Knowledge) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	schemes, known := x.catalog.schemes(q.Tenant, q.Model, q.HashScheme)
	start := len(dst)
	for _, scheme := range schemes {
		if f := x.families[familyKey{q.Tenant, q.Model, scheme, q.Adapter}]; f != nil {
			dst = f.lookup(&q, dst)
		}
	}
	slices.SortFunc(dst[start:], func(a, b Match) int { return a.Holder.Compare(b.Holder) })
	return dst, known
}

// lookup scans each directory once and then asks, holder by holder, how far the
// rules of its groups let it reuse the prompt.
func (f *family) lookup(q *Query, dst []Match) []Match {
	sc := scratches.Get().(*scratch)
	defer sc.release()
	for size, d := range f.directories {
		if hashes := q.hashes(size); len(hashes) > 0 {
			sc.scan(d, hashes)
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
func (sc *scratch) match(f *family, s *session) (Match, bool) {
	r := sc.rules(f, s)
	if len(r.full)+len(r.partial) == 0 {
		return Match{}, false
	}
	announced := r.reusable(announcedMask, 0)
	tokens, inferred := announced, false
	if likely := r.reusable(announcedMask|inferredMask, 1); likely > announced {
		tokens, inferred = likely, true
	}
	upper := r.reusable(announcedMask|inferredMask|possibleMask, 2)
	if tokens == 0 && upper == 0 {
		return Match{}, false
	}
	return Match{
		Holder: s.hello.Holder, Backend: s.hello.Backend, HashScheme: s.hello.HashScheme, State: s.state(),
		Tokens: tokens, Blocks: tokens / r.blockSize, Tier: r.coldest(tokens),
		Exact:    upper == tokens && !inferred && !r.unchecked && s.current.confidence.Degraded == "",
		Inferred: inferred,
		Sequence: s.sequence, LastEvent: s.lastEvent, Stats: s.stats,
	}, true
}
