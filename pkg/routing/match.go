/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"slices"
	"strconv"

	"inferencecache.io/inference-cache/pkg/index"
)

// matches makes the answer of the ranked hits, unless the best one saves less
// than the policy asks for.
func (l *lookup) matches() (Response, bool) {
	n := len(l.order)
	if k := l.request.TopK; k > 0 {
		n = min(n, k)
	}
	out := Response{Reason: PrefixMatch, PromptTokens: l.in.tokens, Tokens: l.in.echo, Replicas: slices.Grow(l.request.Memory[:0], n)[:n]}
	for i, s := range l.order[:n] {
		r := &out.Replicas[i]
		l.fill(r, int(s.hit))
		// What is listed only because it may hold something comes last, and its
		// score must not say otherwise.
		if i > 0 && r.Tokens == 0 {
			r.Score = min(r.Score, out.Replicas[i-1].Score)
		}
	}
	if l.rules.HasFloor && out.Replicas[0].Score < l.rules.FloorScore {
		return Response{}, false
	}
	if l.request.Explain {
		l.explain(&out, "ordered by the expected time to the first token; replicas that may reuse something: "+strconv.Itoa(len(l.hits)))
	}
	return out, true
}

// fill describes a hit. Everything but its rank is read here, so that it is read
// for what is returned only.
func (l *lookup) fill(r *Replica, hit int) {
	h, at := &l.hits[hit], &l.loads[l.places[hit]]
	l.describe(r, h.Session, at)
	r.Tokens, r.Blocks, r.Tier = int(h.Tokens), int(h.Blocks), h.Coldest()
	r.Exact, r.Inferred = h.Exact, h.Inferred
	if h.Blocks > 0 {
		r.T2Tokens = int(int64(h.Tokens) * int64(h.Tiers[1]) / int64(h.Blocks))
		r.T3Tokens = int(int64(h.Tokens) * int64(h.Tiers[2]) / int64(h.Blocks))
	}
	if h.Tokens > 0 {
		r.HitProbability = probability(h, at)
	}
	r.Cost = l.base.cost(h, at)
	r.Score = l.base.cold - r.Cost.TTFT()
}

// describe fills in what is known of a replica whatever it holds.
func (l *lookup) describe(r *Replica, s *index.Session, at *load) {
	*r = Replica{
		Holder: s.Holder(), State: s.State(), Sequence: s.Sequence(), LastEvent: s.LastEvent(),
		Tier: index.T1, Exact: s.Exact(), LoadKnown: at.known,
		Cost: Cost{Queue: at.queue, Prefill: float64(l.in.prefix) * l.rules.Costs.Prefill},
	}
}
