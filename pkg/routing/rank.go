/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/zeebo/xxh3"

	"inferencecache.io/inference-cache/pkg/index"
)

// rank orders matches by reused tokens, then by the coldest tier they need, then
// by load, and spreads what is still equal by hashing the prompt's head.
func rank(r *Request, in resolved, matches []index.Match) []Replica {
	replicas := make([]Replica, len(matches))
	for i, m := range matches {
		if len(r.ChainCounts) > 0 {
			m.Tokens = countTokens(r.ChainCounts, m.Blocks)
		}
		replicas[i] = Replica{Match: m, Score: float64(m.Tokens), HitProbability: hitProbability(m)}
	}
	slices.SortStableFunc(replicas, func(a, b Replica) int {
		return cmp.Or(
			cmp.Compare(b.Tokens, a.Tokens),
			cmp.Compare(a.Tier, b.Tier),
			cmp.Compare(trust(a.State), trust(b.State)),
			compareLoad(a.Stats, b.Stats),
			cmp.Compare(weight(in.head, b.Holder), weight(in.head, a.Holder)),
			a.Holder.Compare(b.Holder),
		)
	})
	return replicas
}

// countTokens sums the caller's own block sizes.
func countTokens(counts []int32, blocks int) int {
	total := 0
	for _, n := range counts[:min(blocks, len(counts))] {
		total += int(n)
	}
	return total
}

func hitProbability(m index.Match) float64 {
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
	b := make([]byte, 0, 64)
	b = append(b, h.Namespace...)
	b = append(b, 0)
	b = append(b, h.Pod...)
	b = append(b, 0)
	b = binary.LittleEndian.AppendUint32(b, h.Rank)
	return xxh3.HashSeed(b, head)
}
