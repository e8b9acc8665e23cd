/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"cmp"
	"slices"

	"inferencecache.io/inference-cache/pkg/index"
)

const (
	// hotHitRate is the least lifetime hit rate at which a cache counts as working.
	hotHitRate = 0.1
	// affinitySlack is how many milliseconds longer than the least loaded one a
	// replica may have to queue and still get a prompt by affinity. Below it the
	// next turn's match is worth more than the wait; far above it nothing is.
	affinitySlack = 1000
)

// fallBack answers for a prompt that nobody certainly holds. Replicas that may
// hold it stay in the answer, with no tokens.
func (l *lookup) fallBack(why string) Response {
	if l.in.hashed && !l.rules.NoTenantHot {
		if hot := l.hotReplicas(); len(hot) > 0 {
			out := Response{Reason: TenantHot, PromptTokens: l.in.tokens, Tokens: l.in.echo, Replicas: l.top(hot)}
			l.explain(&out, why+"; these replicas' own statistics show a working cache")
			return out
		}
	}
	if l.rules.NoAffinity {
		return l.end(NoHint, why+", and the policy switches affinity off")
	}
	pick, ok := l.affine()
	if !ok {
		return l.end(NoHint, why+", and the prompt is too short to place by its head or nobody serves the model")
	}
	out := Response{Reason: AffinityHint, PromptTokens: l.in.tokens, Tokens: l.in.echo}
	out.Replicas = l.top(l.withPossible(pick))
	l.explain(&out, why+"; the replica follows from the prompt's head")
	return out
}

func (l *lookup) top(replicas []Replica) []Replica {
	if k := l.request.TopK; k > 0 && len(replicas) > k {
		return replicas[:k]
	}
	return replicas
}

// hotReplicas returns the replicas whose own statistics show a working cache,
// the one with the best expectation first: what is not known of the prompt
// stands in for by the policy's mean prompt.
func (l *lookup) hotReplicas() []Replica {
	var hot []Replica
	costs := &l.rules.Costs
	prefill := costs.Prefill * costs.WaitingTokens
	if l.in.prefix > 0 {
		prefill = costs.Prefill * float64(l.in.prefix)
	}
	cold := l.leastQueue() + prefill
	for i, s := range l.sessions {
		stats := s.Stats()
		rate, ok := hitRate(stats)
		if !ok || rate < hotHitRate || !l.loads[i].trusted || stats.Time.Before(l.oldest) {
			continue
		}
		r := Replica{}
		l.describe(&r, s, &l.loads[i])
		r.Cost.Prefill = (1 - rate) * prefill
		r.Score, r.HitProbability = cold-r.Cost.TTFT(), rate
		hot = append(hot, r)
	}
	slices.SortStableFunc(hot, func(a, b Replica) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), a.Holder.Compare(b.Holder))
	})
	return hot
}

// hitRate is the engine's lifetime share of prompt tokens served from its cache.
func hitRate(s *index.Stats) (float64, bool) {
	if s == nil || s.HitTokens == nil || s.QueryTokens == nil || *s.QueryTokens <= 0 {
		return 0, false
	}
	return min(float64(*s.HitTokens)/float64(*s.QueryTokens), 1), true
}

// affine picks a replica by the head of the prompt. Replicas without a living
// stream, and those that queue far longer than others, are passed over as long
// as there are others; with the same head the choice falls back to them.
func (l *lookup) affine() (int, bool) {
	if !l.in.hasHead || len(l.sessions) == 0 {
		return 0, false
	}
	l.sharpenHead()
	anyTrusted := slices.ContainsFunc(l.loads, func(at load) bool { return at.trusted })
	bound := l.shortestQueue(anyTrusted) + affinitySlack
	best, most := -1, uint64(0)
	for i, s := range l.sessions {
		if (anyTrusted && !l.loads[i].trusted) || l.loads[i].queue > bound {
			continue
		}
		w := weight(l.in.head, s)
		if best < 0 || w > most || (w == most && s.Holder().Compare(l.sessions[best].Holder()) < 0) {
			best, most = i, w
		}
	}
	return best, best >= 0
}

// shortestQueue is that of the replicas that affinity chooses among.
func (l *lookup) shortestQueue(trustedOnly bool) float64 {
	least, found := 0.0, false
	for i := range l.loads {
		if trustedOnly && !l.loads[i].trusted {
			continue
		}
		if !found || l.loads[i].queue < least {
			least, found = l.loads[i].queue, true
		}
	}
	return least
}

// withPossible lists the picked replica, and after it those that may hold the
// prompt. None of them is credited with anything.
func (l *lookup) withPossible(pick int) []Replica {
	replicas := make([]Replica, 1, 1+len(l.hits))
	l.describe(&replicas[0], l.sessions[pick], &l.loads[pick])
	for i := range l.hits {
		at := int(l.places[i])
		if at == pick {
			replicas[0].Exact = false
			continue
		}
		r := Replica{}
		l.describe(&r, l.sessions[at], &l.loads[at])
		r.Exact = false
		replicas = append(replicas, r)
	}
	slices.SortFunc(replicas[1:], func(a, b Replica) int {
		return cmp.Or(cmp.Compare(a.Cost.TTFT(), b.Cost.TTFT()), a.Holder.Compare(b.Holder))
	})
	return replicas
}
