/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	"inferencecache.io/inference-cache/pkg/kvevents"
)

// path is a prefix of a prompt in the truth: what separates it, and its blocks.
type path struct {
	adapter, salt string
	blocks        string // one byte a block, so that a path can be a map key
}

// engineHash is the name that the engine gives to the last block of a path.
func (p path) engineHash() uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, p.adapter, "|", p.salt, "|", p.blocks)
	return h.Sum64()
}

func (p path) cut(n int) path { return path{p.adapter, p.salt, p.blocks[:n]} }

// content is the hash under which the index knows the path.
func (p path) content() uint64 {
	var tokens []uint32
	for _, block := range []byte(p.blocks) {
		tokens = append(tokens, tokensOf(uint32(block))...)
	}
	return fingerprint.Chain(nil, fingerprint.SaltParent(p.salt), tokens, testBlock)[len(p.blocks)-1]
}

// store returns the event of the blocks of a path from a position on.
func (p path) store(from int, opts ...option) kvevents.Event {
	var hashes []uint64
	var blocks []uint32
	var extra [][]kvevents.ExtraKey
	for i := from; i < len(p.blocks); i++ {
		hashes = append(hashes, p.cut(i+1).engineHash())
		blocks = append(blocks, uint32(p.blocks[i]))
		var texts []string
		if p.adapter != "" {
			texts = append(texts, p.adapter)
		}
		if i == 0 && p.salt != "" {
			texts = append(texts, p.salt)
		}
		extra = append(extra, text(texts...))
	}
	opts = append(opts, lora(p.adapter), keys(extra...))
	if from > 0 {
		opts = append(opts, parent(p.cut(from).engineHash()))
	}
	return stored(hashes, blocks, opts...)
}

// residence is one place of one path.
type residence struct {
	path  path
	group int
	tier  Tier
}

// truth is an engine's cache as sets: how many copies of what it has, and which
// paths it has ever had since it was cleared.
type truth struct {
	random *rand.Rand
	copies map[residence]int
	seen   map[path]bool
	// order are the keys of copies, for a choice that depends on the seed only.
	order []residence
	// unique: no block occurs in two positions of a prompt.
	unique bool
}

func newTruth(seed uint64) *truth {
	return &truth{random: newRandom(seed), copies: map[residence]int{}, seen: map[path]bool{}}
}

func newRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 2)) }

// anyPath returns a path of some length out of few blocks.
func (tr *truth) anyPath() path {
	p := path{adapter: []string{"", "l"}[tr.random.IntN(2)], salt: []string{"", "", "a"}[tr.random.IntN(3)]}
	for i := range 1 + tr.random.IntN(6) {
		block := tr.random.IntN(3)
		if tr.unique {
			block += 3 * i
		}
		p.blocks += string(rune('A' + block))
	}
	return p
}

// storable returns the first position from which a store of a path can begin: its
// parent has been announced before.
func (tr *truth) storable(p path) int {
	from := tr.random.IntN(len(p.blocks))
	for from > 0 && !tr.seen[p.cut(from)] {
		from--
	}
	return from
}

// hold counts a copy.
func (tr *truth) hold(p path, group int, tier Tier) {
	r := residence{p, group, tier}
	if tr.copies[r]++; tr.copies[r] == 1 {
		tr.order = append(tr.order, r)
	}
}

// evict removes a copy of something and returns the event, if there is anything.
func (tr *truth) evict(opts ...option) (kvevents.Event, bool) {
	if len(tr.order) == 0 {
		return kvevents.Event{}, false
	}
	i := tr.random.IntN(len(tr.order))
	r := tr.order[i]
	if tr.copies[r]--; tr.copies[r] == 0 {
		delete(tr.copies, r)
		tr.order = slices.Delete(tr.order, i, i+1)
	}
	opts = append(opts, medium([]string{"", "GPU", "CPU_PINNED", "DISK"}[r.tier]))
	return removed([]uint64{r.path.engineHash()}, append(opts, inGroup(r.group))...), true
}

// clear forgets everything.
func (tr *truth) clear() kvevents.Event {
	clear(tr.copies)
	clear(tr.seen)
	tr.order = nil
	return cleared()
}

// announced returns what a holder has been told for certain, in the truth's terms.
func announced(h *holder, certainty Certainty) map[string]bool {
	said := map[string]bool{}
	for key, hashes := range h.places {
		scope := h.scopes[key.Scope]
		for hash := range hashes {
			if key.Certainty == certainty {
				said[fmt.Sprintf("%x adapter=%q salted=%v group=%d tier=%d", hash, scope.Adapter, scope.Salted, key.Group, key.Tier)] = true
			}
		}
	}
	return said
}

// expected returns what the holder should know.
func (tr *truth) expected() map[string]bool {
	want := map[string]bool{}
	for r := range tr.copies {
		want[fmt.Sprintf("%x adapter=%q salted=%v group=%d tier=%d", r.path.content(), r.path.adapter, r.path.salt != "", r.group, r.tier)] = true
	}
	return want
}

// compare fails when the announced sets are not the truth.
func (tr *truth) compare(t *testing.T, r *rig, seed uint64, step int) {
	t.Helper()
	want, got := tr.expected(), announced(r.holder, Announced)
	if !maps.Equal(want, got) {
		t.Fatalf("seed %d, step %d: truth (-) and reported (+):\n%s", seed, step, cmp.Diff(want, got))
	}
}

// TestTruth compares the reported sets with those of an engine that stores, moves
// and evicts at random, with copies, salts, adapters and tiers.
func TestTruth(t *testing.T) {
	for seed := range uint64(25) {
		tr, r := newTruth(seed), newRig(Options{})
		for step := range 60 {
			var events []kvevents.Event
			for range 1 + tr.random.IntN(4) {
				switch choice := tr.random.IntN(20); {
				case choice == 0 && step > 30:
					events = append(events, tr.clear())
				case choice < 8:
					if ev, ok := tr.evict(); ok {
						events = append(events, ev)
					}
				default:
					p, tier := tr.anyPath(), []Tier{T1, T1, T2, T3}[tr.random.IntN(4)]
					from := tr.storable(p)
					for i := from; i < len(p.blocks); i++ {
						tr.hold(p.cut(i+1), 0, tier)
						tr.seen[p.cut(i+1)] = true
					}
					events = append(events, p.store(from, medium([]string{"", "GPU", "CPU_PINNED", "DISK"}[tier]), inGroup(0)))
				}
			}
			r.send(t, events...)
			tr.compare(t, r, seed, step)
		}
	}
}

// TestTruthOfHybrids does so for a window group that lists some of its blocks, and
// a full group that tells where they lie, in the same batch or in an earlier one.
func TestTruthOfHybrids(t *testing.T) {
	for seed := range uint64(25) {
		tr, r := newTruth(seed), newRig(Options{})
		for step := range 60 {
			if ev, ok := tr.evict(); ok && tr.random.IntN(2) == 0 {
				r.send(t, ev)
			} else if ok {
				r.send(t, ev, kvevents.Event{Kind: kvevents.BlockRemoved})
			}
			p := tr.anyPath()
			from := tr.storable(p)
			window := p.store(from, inWindow(0, 8))
			window.Hashes, window.ExtraKeys = window.Hashes[:0:0], nil
			for i := from; i < len(p.blocks); i++ {
				tr.hold(p.cut(i+1), 1, T1)
				tr.seen[p.cut(i+1)] = true
				if tr.random.IntN(2) == 0 {
					tr.hold(p.cut(i+1), 0, T1)
					window.Hashes = append(window.Hashes, kvevents.IntHash(p.cut(i+1).engineHash()))
				}
			}
			if len(window.Hashes) == len(p.blocks)-from {
				// A list that is complete names the keys of its blocks, too.
				window.ExtraKeys = p.store(from).ExtraKeys
			}
			r.send(t, window, p.store(from, inGroup(1), spec("full_attention")))
			tr.compare(t, r, seed, step)
		}
	}
}

// TestTruthOfWindows has no full group: what is announced has to be true, and what
// is true has to be announced or possible, as far as a salt does not hide it.
func TestTruthOfWindows(t *testing.T) {
	for seed := range uint64(25) {
		tr, r := newTruth(seed), newRig(Options{})
		tr.unique = true
		for step := range 60 {
			if ev, ok := tr.evict(); ok {
				r.send(t, ev)
			}
			p := path{blocks: tr.anyPath().blocks}
			from := tr.storable(p)
			window := p.store(from, inWindow(0, 8), keys())
			window.Hashes = window.Hashes[:0:0]
			for i := from; i < len(p.blocks); i++ {
				tr.seen[p.cut(i+1)] = true
				if tr.random.IntN(3) > 0 {
					tr.hold(p.cut(i+1), 0, T1)
					window.Hashes = append(window.Hashes, kvevents.IntHash(p.cut(i+1).engineHash()))
				}
			}
			r.send(t, window)
			want, sure, possible := tr.expected(), announced(r.holder, Announced), announced(r.holder, Possible)
			for what := range sure {
				if !want[what] {
					t.Fatalf("seed %d, step %d: %s is announced, but not there", seed, step, what)
				}
			}
			if r.holder.confidence.Unbounded > 0 {
				continue
			}
			for what := range want {
				if !sure[what] && !possible[what] {
					t.Fatalf("seed %d, step %d: %s is there, but neither announced nor possible", seed, step, what)
				}
			}
		}
	}
}
