/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"cmp"
	"math"
	"slices"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	"inferencecache.io/inference-cache/pkg/index"
)

// standing is a match on its way to its rank. The weight is part of it because
// replicas that are equal in everything else would have it computed again in
// every comparison.
type standing struct {
	*Match
	weight uint64
}

// rank orders matches by reused tokens, then by the coldest tier they need, then
// by load, and spreads what is still equal by hashing the prompt's head. It
// changes the matches' tokens when the caller counts them differently.
func rank(r *Request, in resolved, matches []Match) []Replica {
	standings := make([]standing, len(matches))
	for i := range matches {
		m := &matches[i]
		if len(r.ChainCounts) > 0 {
			m.Tokens = countTokens(r.ChainCounts, m.Blocks)
		}
		standings[i] = standing{Match: m, weight: weight(in.head, m.Holder)}
	}
	slices.SortFunc(standings, standing.compare)
	replicas := make([]Replica, len(standings))
	for i, s := range standings {
		replicas[i] = Replica{Match: *s.Match, Score: float64(s.Tokens), HitProbability: hitProbability(s.Match)}
	}
	return replicas
}

// compare puts the better first. No two are equal, because holders differ.
func (s standing) compare(o standing) int {
	if c := cmp.Or(
		cmp.Compare(o.Tokens, s.Tokens),
		cmp.Compare(s.Tier, o.Tier),
		cmp.Compare(trust(s.State), trust(o.State)),
		compareLoad(s.Stats, o.Stats),
		cmp.Compare(o.weight, s.weight),
	); c != 0 {
		return c
	}
	return s.Holder.Compare(o.Holder)
}

// countTokens sums the caller's own block sizes.
func countTokens(counts []int32, blocks int) int {
	total := 0
	for _, n := range counts[:min(blocks, len(counts))] {
		total += int(n)
	}
	return min(total, math.MaxInt32)
}

func hitProbability(m *Match) float64 {
	switch {
	case m.Tokens == 0:
		return 0
	case m.Exact && trust(m.State) == 0:
		return 1
	}
	return 0.5
}

// trust is 0 for holders whose stream is alive and 1 for the others.
func trust(s index.State) int {
	if s == index.Suspect || s == index.Rebuilding {
		return 1
	}
	return 0
}

// loadOf returns the requests that an engine has running or waiting.
func loadOf(s *index.Stats) (int64, bool) {
	if s == nil || (s.Running == nil && s.Waiting == nil) {
		return 0, false
	}
	var load int64
	if s.Running != nil {
		load += *s.Running
	}
	if s.Waiting != nil {
		load += *s.Waiting
	}
	return load, true
}

// compareLoad puts the less loaded first and those of unknown load last.
func compareLoad(a, b *index.Stats) int {
	la, knownA := loadOf(a)
	lb, knownB := loadOf(b)
	switch {
	case knownA && knownB:
		return cmp.Compare(la, lb)
	case knownA:
		return -1
	case knownB:
		return 1
	}
	return 0
}

// weight is the rendezvous weight of a holder for a head: of all holders, the one
// with the highest weight gets the prompt, so a change of the fleet moves only
// the prompts of the holders that came or went.
func weight(head uint64, h index.Holder) uint64 {
	return fingerprint.WithKeys(head, []fingerprint.Key{fingerprint.TextKey(h.Namespace), fingerprint.OffsetKey(h.Pod, int64(h.Rank))})
}
