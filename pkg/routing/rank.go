/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"inferencecache.io/inference-cache/pkg/index"
)

// doubtful is the probability of a match that somebody has concluded, or whose
// holder cannot be asked at the moment.
const doubtful = 0.5

// insertionBound is the size up to which the best are kept in order one by one,
// which is cheaper than ordering everything.
const insertionBound = 16

// standing is a hit on its way to its rank. The key orders standings, the
// greatest first; see keyOf.
type standing struct {
	key uint64
	hit int32
}

// gate finds the hits among the serving replicas, marks those that hold something
// as warm, and applies the policy's floors on tokens. It says why nothing is
// left, or nothing when something is. A hit on a replica that came or went since
// the index was asked is dropped.
func (l *lookup) gate() string {
	l.count()
	l.round++
	l.places = l.places[:0]
	floor := int32(min(l.rules.MinimumMatchedTokens, math.MaxInt32))
	longest, kept := int32(0), 0
	for i := range l.hits {
		h := &l.hits[i]
		at := l.find(h.Session)
		if at < 0 {
			continue
		}
		if h.Tokens > 0 {
			l.loads[at].warm = l.round
		}
		if h.Tokens < floor || (l.in.exact && !l.whole(h)) {
			continue
		}
		longest = max(longest, h.Tokens)
		if kept != i {
			l.hits[kept] = *h
		}
		l.places = append(l.places, at)
		kept++
	}
	dropped := len(l.hits) - kept
	l.dropHits(kept)
	switch {
	case longest == 0 && dropped > 0:
		return "no match is as long as the policy asks for"
	case longest == 0:
		return "nobody certainly holds the prompt"
	case int(longest) < l.rules.MinimumPrefixTokens:
		l.dropHits(0)
		return "the longest match is shorter than the policy's minimumPrefixTokens"
	}
	return ""
}

// count makes the tokens of hits those of the caller's own counts.
func (l *lookup) count() {
	if len(l.sums) == 0 || len(l.request.ChainCounts) == 0 {
		return
	}
	for i := range l.hits {
		h := &l.hits[i]
		h.Tokens = 0
		if n := min(int(h.Blocks), len(l.sums)); n > 0 {
			h.Tokens = l.sums[n-1]
		}
	}
}

// whole reports whether a hit is all that can be reused of what was asked for.
func (l *lookup) whole(h *index.Hit) bool {
	if h.Blocks == 0 {
		return false
	}
	size := int(h.Tokens / h.Blocks)
	for i := range l.chains {
		if c := &l.chains[i]; int(c.BlockSize) == size {
			n := len(c.Hashes)
			if l.in.tokens > 0 {
				n = min(n, (l.in.tokens-1)/size)
			}
			return int(h.Blocks) >= n
		}
	}
	return false
}

// span is the length in tokens of what is asked for, as far as the request or a
// hit tells it: what lies beyond is to be computed on every replica alike.
func (l *lookup) span() int {
	span := l.in.prefix
	if span > 0 && !l.in.hashed {
		return span
	}
	for i := range l.hits {
		h := &l.hits[i]
		span = max(span, int(h.Tokens))
		if !l.in.hashed && h.Blocks > 0 {
			return max(span, len(l.chains[0].Hashes)*int(h.Tokens/h.Blocks))
		}
	}
	return span
}

// rank orders the hits, the best first.
func (l *lookup) rank() {
	l.base = base{costs: &l.rules.Costs, span: float64(l.span())}
	l.base.cold = l.leastQueue() + l.base.span*l.base.costs.Prefill
	l.order = l.order[:0]
	for i := range l.hits {
		h := &l.hits[i]
		at := &l.loads[l.places[i]]
		score := l.base.cold - l.base.cost(h, at).TTFT()
		l.order = append(l.order, standing{hit: int32(i), key: keyOf(h, at, score, weight(l.in.head, h.Session))})
	}
	if k := l.request.TopK; k > 0 && k < len(l.order) && k <= insertionBound {
		l.keepBest(k)
		return
	}
	slices.SortFunc(l.order, func(a, b standing) int {
		switch {
		case a.key > b.key:
			return -1
		case a.key < b.key:
			return 1
		}
		return l.compare(a, b)
	})
}

// keepBest orders the best k and drops the others from the order.
func (l *lookup) keepBest(k int) {
	best := l.order[:1]
	for _, s := range l.order[1:] {
		if len(best) == k && (s.key < best[k-1].key || l.compare(best[k-1], s) <= 0) {
			continue
		}
		if len(best) < k {
			best = best[:len(best)+1]
		}
		at := len(best) - 1
		for at > 0 && l.compare(best[at-1], s) > 0 {
			best[at] = best[at-1]
			at--
		}
		best[at] = s
	}
	l.order = best
}

// compare puts the better first. No two are equal, because holders differ.
func (l *lookup) compare(a, b standing) int {
	if a.key != b.key {
		return cmp.Compare(b.key, a.key)
	}
	return l.hits[a.hit].Session.Holder().Compare(l.hits[b.hit].Session.Holder())
}

// base is what every hit is measured against.
type base struct {
	costs *Costs
	span  float64
	// cold is the time to the first token on the best replica that holds nothing.
	cold float64
}

// cost is what a hit costs until its first token. A doubtful match counts with
// its probability: else all of the prompt is computed.
func (b *base) cost(h *index.Hit, at *load) Cost {
	tokens, p := float64(h.Tokens), probability(h, at)
	var reload float64
	if h.Tiers[1]|h.Tiers[2] != 0 {
		perBlock := tokens / float64(h.Blocks)
		reload = perBlock * (float64(h.Tiers[1])*b.costs.T2 + float64(h.Tiers[2])*b.costs.T3)
	}
	return Cost{Queue: at.queue, Reload: p * reload, Prefill: max(b.span-p*tokens, 0) * b.costs.Prefill}
}

// probability is that of the match as far as its tokens go. A bound from below
// is sure, which it is when the holder has more than it could report.
func probability(h *index.Hit, at *load) float64 {
	if at.trusted && !h.Inferred && (h.Exact || !h.Session.Exact()) {
		return 1
	}
	return doubtful
}

// The low bits of a key. What is weighed in first decides first.
const (
	keyMatched   = 1 << 63
	keyAnnounced = 1 << 30
	keyTrusted   = 1 << 29
	keyExact     = 1 << 28
	keyLoadKnown = 1 << 27
	keyWeight    = keyLoadKnown - 1
)

// keyOf packs what orders hits into a number: a match before none, then the
// score, then announced before inferred, a living stream before a lost one, exact
// before bounds, known load before unknown, and the rendezvous weight.
func keyOf(h *index.Hit, at *load, score float64, weight uint64) uint64 {
	key := uint64(sortable(float32(score))) << 31
	if h.Tokens > 0 {
		key |= keyMatched
	}
	if !h.Inferred {
		key |= keyAnnounced
	}
	if at.trusted {
		key |= keyTrusted
	}
	if h.Exact {
		key |= keyExact
	}
	if at.known {
		key |= keyLoadKnown
	}
	return key | weight&keyWeight
}

// sortable maps numbers to ones without a sign, in the same order.
func sortable(f float32) uint32 {
	b := math.Float32bits(f)
	if b>>31 != 0 {
		return ^b
	}
	return b | 1<<31
}

// spread is an odd number without a pattern: the golden ratio in 64 bits.
const spread = 0x9E3779B97F4A7C15

// weight is the rendezvous weight of a holder for a head: of all holders, the one
// with the highest weight gets the prompt, so a change of the fleet moves only
// the prompts of the holders that came or went. Both are hashes already, so one
// multiplication mixes them well enough.
func weight(head uint64, s *index.Session) uint64 {
	high, low := bits.Mul64(head^s.ID(), spread)
	return high ^ low
}
