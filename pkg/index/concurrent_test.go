/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestConcurrentReaders reads while holders store, remove, clear, send snapshots,
// die and come back. Whatever a reader is told of all holders together must have
// been so at one moment between question and answer.
func TestConcurrentReaders(t *testing.T) {
	for name, test := range map[string]struct {
		deeds   int
		kinds   deedKind
		readers func(w *teller) map[string]func(*rand.Rand) error
	}{
		// What changes all at once makes a lookup begin again, so that little else is
		// tested beside it.
		"lookups beside stores": {20_000, removing + 1, func(w *teller) map[string]func(*rand.Rand) error {
			return map[string]func(*rand.Rand) error{"lookups": w.readLookup}
		}},
		"without a lock": {20_000, kindsOfDeeds, func(w *teller) map[string]func(*rand.Rand) error {
			return map[string]func(*rand.Rand) error{"lookups": w.readLookup, "sessions": w.readServing}
		}},
		"under the lock": {2_000, kindsOfDeeds, func(w *teller) map[string]func(*rand.Rand) error {
			return map[string]func(*rand.Rand) error{"listings": w.readList, "views": w.readHolders, "chains": w.readChains}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTeller(test.deeds, test.kinds, Options{Lease: 30 * time.Second, WarmUp: -1})
			w.read(t, test.readers(w))
			w.end(t)
		})
	}
}

// TestConcurrentEviction reads while the index forgets blocks all the time. An
// answer may then be lower than what the holder has, if it says so.
func TestConcurrentEviction(t *testing.T) {
	for name, test := range map[string]struct {
		options Options
		limits  TenantLimits
	}{
		"quota":           {limits: TenantLimits{MaxBlocks: 60}},
		"least often":     {limits: TenantLimits{MaxBlocks: 60, Order: LFU}},
		"budget":          {options: Options{Memory: 4 << 10}, limits: noLimits},
		"time":            {limits: TenantLimits{MaxBlocks: -1, TTL: 50 * time.Millisecond}},
		"all of them":     {options: Options{Memory: 6 << 10}, limits: TenantLimits{MaxBlocks: 90, TTL: time.Second}},
		"nothing is kept": {limits: TenantLimits{MaxBlocks: 0}},
	} {
		t.Run(name, func(t *testing.T) {
			test.options.Lease, test.options.WarmUp = 30*time.Second, -1
			w := newTeller(4_000, kindsOfDeeds, test.options)
			w.x.SetTenantLimits("ns", &test.limits)
			w.read(t, map[string]func(*rand.Rand) error{"bounds": w.readBounds, "sessions": w.readServing})
			w.end(t)
		})
	}
}

func newTeller(deeds int, kinds deedKind, options Options) *teller {
	at := time.Unix(1_800_000_000, 0)
	return &teller{story: newStory(1, deeds, kinds), x: New(options, at), at: at}
}

// end lets all holders go, after which nothing is left.
func (w *teller) end(t *testing.T) {
	t.Helper()
	if msg := leftOver(w.x, w.at); msg != "" {
		t.Error(msg)
	}
}

// asked is an answer about so many blocks of a chain, with the moments that it
// may be about.
type asked struct {
	hits          [storyHolders]*Hit
	chain, blocks int
	first, last   int
}

// ask asks about a part of a chain, at times with blocks that nobody has.
func (w *teller) ask(random *rand.Rand) (a asked, err error) {
	a.chain = random.IntN(storyChains)
	a.blocks = 1 + random.IntN(chainBlocks)
	hashes := slices.Clone(w.chains[a.chain][:a.blocks])
	for range random.IntN(20) {
		hashes = append(hashes, random.Uint64())
	}
	q := &Query{Tenant: "ns", Model: "m", Chains: []Chain{{BlockSize: 16, Hashes: hashes}}, Quiet: random.IntN(4) == 0}
	a.first, a.last = w.window(func() { a.hits, err = w.hits(q) })
	return a, err
}

// numberOf finds a holder of the story.
func numberOf(h Holder) int {
	for i := range storyHolders {
		if storyHolder(i) == h {
			return i
		}
	}
	return -1
}

// hits asks, and checks what holds for every hit by itself.
func (w *teller) hits(q *Query) (byHolder [storyHolders]*Hit, err error) {
	hits, _ := w.x.Lookup(q, nil)
	for i := range hits {
		hit := &hits[i]
		h := numberOf(hit.Session.Holder())
		switch {
		case h < 0 || byHolder[h] != nil:
			return byHolder, fmt.Errorf("%v is hit twice, or is nobody", hit.Session.Holder())
		case hit.Tokens != 16*hit.Blocks || hit.Tiers[storyTier(h)-1] != hit.Blocks || hit.Tiers[0]+hit.Tiers[1]+hit.Tiers[2] != hit.Blocks:
			return byHolder, fmt.Errorf("a hit does not add up: %+v", *hit)
		case hit.Blocks == 0 && hit.Exact, hit.Inferred:
			return byHolder, fmt.Errorf("a hit on nothing, or on blocks that were inferred: %+v", *hit)
		}
		byHolder[h] = hit
	}
	return byHolder, nil
}

func (w *teller) readLookup(random *rand.Rand) error {
	a, err := w.ask(random)
	if err != nil {
		return err
	}
	var got [storyHolders]int64
	for h, hit := range a.hits {
		if hit == nil {
			continue
		}
		if got[h] = int64(hit.Blocks); !hit.Exact {
			return fmt.Errorf("what is announced is not exact: %+v", *hit)
		}
	}
	return w.explain(a.first, a.last, got, func(has [storyChains]int) int64 { return int64(min(has[a.chain], a.blocks)) })
}

// readBounds holds for answers of an index that forgets: none is higher than the
// holder ever had, and one that is lower than it always had is not called exact.
func (w *teller) readBounds(random *rand.Rand) error {
	a, err := w.ask(random)
	if err != nil {
		return err
	}
	for h, hit := range a.hits {
		low, high := a.blocks, 0
		for v := a.first; v <= min(a.last+1, len(w.deeds)); v++ {
			n := min(w.moments[v][h][a.chain], a.blocks)
			low, high = min(low, n), max(high, n)
		}
		got, exact := 0, true
		if hit != nil {
			got, exact = int(hit.Blocks), hit.Exact
		}
		if got > high || got < low && exact {
			return fmt.Errorf("pod-%d has %d to %d blocks of chain %d between moments %d and %d; the answer was %d, exact: %t",
				h, low, high, a.chain, a.first, a.last+1, got, exact)
		}
	}
	return nil
}

func (w *teller) readHolders(*rand.Rand) error {
	var views []HolderView
	first, last := w.window(func() { views, _ = w.x.Holders(time.Unix(1_800_000_000, 0)) })
	var got [storyHolders]int64
	for i := range views {
		v := &views[i]
		h := numberOf(v.Holder)
		if h < 0 || v.Blocks[storyTier(h)-1] != v.Prefixes || v.Blocks[0]+v.Blocks[1]+v.Blocks[2] != v.Prefixes {
			return fmt.Errorf("a view does not add up: %+v", *v)
		}
		got[h] = v.Prefixes
	}
	return w.explain(first, last, got, w.blocks)
}

func (w *teller) readList(random *rand.Rand) error {
	q := ListQuery{Backend: Backend{"ns", "cache"}, Limit: 1 << 20}
	var items []Item
	first, last := w.window(func() { items, _ = w.x.List(q) })
	var got [storyHolders]int64
	for i, item := range items {
		if i > 0 && items[i-1].Compare(item.ItemKey) >= 0 {
			return fmt.Errorf("item %d is out of order", i)
		}
		position := w.positionOf(item.Hash)
		if item.Tokens != int64(16*(position+1)) {
			return fmt.Errorf("block %d of a chain ends after %d tokens", position, item.Tokens)
		}
		for tier, holders := range item.Holders {
			for _, holder := range holders {
				h := numberOf(holder)
				if h < 0 || storyTier(h) != tier {
					return fmt.Errorf("%v has a block in T%d", holder, tier)
				}
				got[h]++
			}
		}
	}
	if err := w.explain(first, last, got, w.blocks); err != nil {
		return err
	}
	// Pages are of different moments, but in order.
	q.Limit = 1 + random.IntN(40)
	for more := true; more; {
		items, more = w.x.List(q)
		for i := range items {
			if q.After != nil && q.After.Compare(items[i].ItemKey) >= 0 {
				return fmt.Errorf("a page starts before the end of the page before")
			}
			q.After = &items[i].ItemKey
		}
	}
	return nil
}

// positionOf is where a block lies in its chains, far away for no block of any.
func (s *story) positionOf(hash uint64) int {
	for _, chain := range s.chains {
		if i := slices.Index(chain, hash); i >= 0 {
			return i
		}
	}
	return 1 << 20
}

func (w *teller) readChains(random *rand.Rand) error {
	chain := w.chains[random.IntN(storyChains)]
	n := 1 + random.IntN(len(chain))
	found, _ := w.x.ChainsTo("ns", "m", "", "", chain[n-1])
	for _, c := range found {
		if c.BlockSize != 16 || !slices.Equal(c.Hashes, chain[:n]) {
			return fmt.Errorf("the chain to block %d is %x, want %x", n-1, c.Hashes, chain[:n])
		}
	}
	if len(found) > 1 {
		return fmt.Errorf("%d chains lead to one block", len(found))
	}
	return nil
}

// readServing holds that there is one session for a holder, in order, and that
// what sessions say of themselves can be so.
func (w *teller) readServing(*rand.Rand) error {
	sessions, _ := w.x.Serving("ns", "m", "vllm", nil)
	for i, s := range sessions {
		if i > 0 && cmp.Compare(numberOf(sessions[i-1].Holder()), numberOf(s.Holder())) >= 0 {
			return fmt.Errorf("%v does not belong behind %v", s.Holder(), sessions[i-1].Holder())
		}
		if s.HashScheme() != "vllm" || s.Backend() != (Backend{"ns", "cache"}) || s.ID() != idOf(s.Holder()) || s.State() > Degraded || s.Stats() != nil {
			return fmt.Errorf("%v says what nobody has told", s.Holder())
		}
	}
	return nil
}
