/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"maps"
	"slices"
	"time"
)

// reference is the index as its documentation describes it, in the most literal
// form: one set of residencies per holder and brute force for every question.
type reference struct {
	options  Options
	holders  map[Holder]*refHolder
	chains   map[uint64]refBlock // what every hash of the test's universe is
	universe [][]uint64
}

type refBlock struct {
	depth int
	chain []uint64
}

type refHolder struct {
	hello     Hello
	connected bool
	leaseEnd  time.Time
	sequence  uint64
	target    uint64
	awaiting  bool
	since     time.Time
	fresh     bool
	held      refSet
	groups    map[uint32]Group
	staged    *refStaged
}

type refStaged struct {
	held     refSet
	groups   map[uint32]Group
	sequence uint64
	next     uint32
}

type refKey struct {
	adapter   string
	blockSize uint32
	group     uint32
	tier      Tier
	certainty Certainty
	hash      uint64
}

// refSet maps what is held to when it ends; the zero time means never.
type refSet map[refKey]time.Time

func (s refSet) apply(scopes map[uint32]Scope, groups map[uint32]Group, c Change, expiry time.Time) {
	switch c.Op {
	case DeclareGroup:
		groups[c.Group.Index] = c.Group
	case DeclareScope:
		scopes[c.ScopeID] = c.Scope
	case Clear:
		clear(s)
	case Store, Remove:
		for _, hash := range c.Hashes {
			k := refKey{scopes[c.ScopeID].Adapter, scopes[c.ScopeID].BlockSize, c.GroupIndex, max(c.Tier, T1), c.Certainty, hash}
			if c.Op == Remove {
				delete(s, k)
				continue
			}
			old, again := s[k]
			switch {
			case c.Certainty != Inferred:
				s[k] = time.Time{}
			case !again || expiry.Sub(old) >= historyTTL/ttlMarks:
				s[k] = expiry
			}
		}
	case SetConfidence:
	}
}

func (s refSet) expire(now time.Time) {
	maps.DeleteFunc(s, func(_ refKey, end time.Time) bool { return !end.IsZero() && !end.After(now) })
}

// has reports whether a group has a block with at most the given doubt.
func (s refSet) has(adapter string, g Group, hash uint64, doubt Certainty) bool {
	for c := Announced; c <= doubt; c++ {
		for t := T1; t <= T3; t++ {
			if _, ok := s[refKey{adapter, g.BlockSize, g.Index, t, c, hash}]; ok {
				return true
			}
		}
	}
	return false
}

// reuse tries every length, longest first. Groups of one block size only.
func (h *refHolder) reuse(adapter string, chain []uint64, doubt Certainty) int {
	for n := len(chain); n > 0; n-- {
		if h.reuses(adapter, chain, n, doubt) {
			return n
		}
	}
	return 0
}

func (h *refHolder) reuses(adapter string, chain []uint64, n int, doubt Certainty) bool {
	for _, g := range h.groups {
		first := 0
		switch g.Kind {
		case WindowGroup:
			first = max(0, n-(int(g.Window)+int(g.BlockSize)-2)/int(g.BlockSize))
		case CheckpointGroup:
			first = n - 1
		case FullGroup, UnknownGroup:
		}
		for _, hash := range chain[first:n] {
			if !h.held.has(adapter, g, hash, doubt) {
				return false
			}
		}
	}
	return len(h.groups) > 0
}

// counts returns the distinct blocks by tier and in all.
func (h *refHolder) counts() (blocks [3]int64, prefixes int64) {
	type place struct {
		adapter string
		size    uint32
		hash    uint64
	}
	var byTier [3]map[place]bool
	all := map[place]bool{}
	for i := range byTier {
		byTier[i] = map[place]bool{}
	}
	for k := range h.held {
		if k.certainty == Possible {
			continue
		}
		p := place{k.adapter, k.blockSize, k.hash}
		byTier[k.tier-1][p], all[p] = true, true
	}
	for i := range byTier {
		blocks[i] = int64(len(byTier[i]))
	}
	return blocks, int64(len(all))
}

func (h *refHolder) state() State {
	switch {
	case !h.connected:
		return Suspect
	case h.awaiting, h.fresh && h.sequence < h.target, h.staged != nil && h.fresh:
		return Rebuilding
	case h.sequence < h.target:
		return Suspect
	}
	return Live
}

// items lists what a backend's holders have, as List should.
func (r *reference) items(b Backend) []Item {
	found := map[ItemKey]*Item{}
	for _, holder := range slices.SortedFunc(maps.Keys(r.holders), Holder.Compare) {
		h := r.holders[holder]
		if h.hello.Backend != b {
			continue
		}
		best := map[ItemKey]Tier{}
		for k := range h.held {
			if k.certainty == Possible {
				continue
			}
			key := ItemKey{h.hello.Model, h.hello.HashScheme, k.adapter, k.blockSize, k.hash}
			if t, ok := best[key]; !ok || k.tier < t {
				best[key] = k.tier
			}
		}
		for key, tier := range best {
			it := found[key]
			if it == nil {
				it = &Item{ItemKey: key, Tokens: int64(r.chains[key.Hash].depth+1) * int64(key.BlockSize), Holders: map[Tier][]Holder{}}
				found[key] = it
			}
			it.Holders[tier] = append(it.Holders[tier], holder)
		}
	}
	items := make([]Item, 0, len(found))
	for _, it := range found {
		items = append(items, *it)
	}
	slices.SortFunc(items, func(a, b Item) int { return a.Compare(b.ItemKey) })
	return items
}
