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

// hotHitRate is the least lifetime hit rate at which a cache counts as working.
const hotHitRate = 0.1

// hotReplicas returns the replicas whose own statistics show a working cache,
// best hit rate first.
func hotReplicas(serving []*index.Session) []Replica {
	var hot []Replica
	for _, c := range serving {
		rate, ok := hitRate(c.Stats())
		if !ok || rate < hotHitRate || trust(c.State()) != 0 {
			continue
		}
		hot = append(hot, Replica{Match: standingOf(c), Score: rate})
	}
	slices.SortStableFunc(hot, func(a, b Replica) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), compareLoad(a.Stats, b.Stats), a.Holder.Compare(b.Holder))
	})
	return hot
}

// hitRate is the engine's lifetime share of prompt tokens served from its cache.
func hitRate(s *index.Stats) (float64, bool) {
	if s == nil || s.HitTokens == nil || s.QueryTokens == nil || *s.QueryTokens <= 0 {
		return 0, false
	}
	return float64(*s.HitTokens) / float64(*s.QueryTokens), true
}

// affine picks a replica by the head of the prompt.
func affine(in resolved, serving []*index.Session) (Replica, bool) {
	if !in.hasHead {
		return Replica{}, false
	}
	best, most, found := (*index.Session)(nil), uint64(0), false
	for _, c := range serving {
		if trust(c.State()) != 0 {
			continue
		}
		if w := weight(in.head, c.Holder()); !found || w > most {
			best, most, found = c, w, true
		}
	}
	if !found {
		return Replica{}, false
	}
	return Replica{Match: standingOf(best)}, true
}

// standingOf is a holder with no match.
func standingOf(s *index.Session) Match {
	m := matchOf(&index.Hit{Session: s, Exact: s.Exact()})
	return m
}
