/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// A story is a history of holders that is worked out before anything of it
// happens, so that readers know at any time which answers are right.
const (
	storyHolders = 6
	storyChains  = 6
	chainBlocks  = 48
	// readersPerKind of each kind read while one writer writes, on so many threads
	// that the system stops them anywhere for a while.
	readersPerKind = 2
	threads        = 8
)

// moment is how much of each chain each holder has, in blocks.
type moment [storyHolders][storyChains]int

// deed is what happens between two moments.
type deed struct {
	kind   deedKind
	holder int
	// want is how much of each chain the holder asks for: what it then has is that
	// and what other chains share.
	want [storyChains]int
	// chain is the one that a store or a removal is about.
	chain int
}

type deedKind int

// The deeds. While blocks are stored or removed a part of them may be seen; all
// else happens at once.
const (
	storing deedKind = iota
	removing
	clearing
	promoting
	dropping
	restarting
	kindsOfDeeds
)

// story has one moment more than deeds.
type story struct {
	chains  [storyChains][]uint64
	deeds   []deed
	moments []moment
	// now counts the deeds that are done.
	now atomic.Int64
}

// shared is how many blocks two chains have in common: most leave the first one,
// each a little later than the one before it, and the last is on its own.
func shared(a, b int) int {
	switch {
	case a == b:
		return chainBlocks
	case max(a, b) == storyChains-1:
		return 0
	case min(a, b) == 0:
		return 9 * max(a, b)
	}
	return 9 * min(a, b)
}

// newStory makes a story of the first so many kinds of deeds, mostly stores if
// there are many.
func newStory(seed uint64, deeds int, kinds deedKind) *story {
	random := rand.New(rand.NewPCG(seed, 1))
	s := &story{moments: make([]moment, 1)}
	for c := range s.chains {
		for i := range chainBlocks {
			hash := random.Uint64()
			for other := range c {
				if i < shared(c, other) {
					hash = s.chains[other][i]
				}
			}
			s.chains[c] = append(s.chains[c], hash)
		}
	}
	var wants [storyHolders][storyChains]int
	for range deeds {
		d := deed{kind: storing, holder: random.IntN(storyHolders), chain: random.IntN(storyChains)}
		if random.IntN(3) == 0 || kinds == removing+1 {
			d.kind = deedKind(random.IntN(int(kinds)))
		}
		d.want = wants[d.holder]
		switch d.kind {
		case storing:
			d.want[d.chain] += random.IntN(chainBlocks - d.want[d.chain] + 1)
		case removing:
			d.want[d.chain] = random.IntN(d.want[d.chain] + 1)
		case promoting:
			for c := range d.want {
				d.want[c] = random.IntN(chainBlocks + 1)
			}
		default:
			d.want = [storyChains]int{}
		}
		wants[d.holder] = d.want
		next := s.moments[len(s.moments)-1]
		next[d.holder] = depths(d.want)
		s.deeds, s.moments = append(s.deeds, d), append(s.moments, next)
	}
	return s
}

// depths is what a holder has of each chain when it wants so much of each.
func depths(want [storyChains]int) (has [storyChains]int) {
	for c := range has {
		for other, n := range want {
			has[c] = max(has[c], min(n, shared(c, other)))
		}
	}
	return has
}

// blocks counts the distinct blocks that a holder has.
func (s *story) blocks(has [storyChains]int) int64 {
	distinct := map[uint64]bool{}
	for c, n := range has {
		for _, hash := range s.chains[c][:n] {
			distinct[hash] = true
		}
	}
	return int64(len(distinct))
}

func storyHolder(i int) Holder { return Holder{Namespace: "ns", Pod: fmt.Sprintf("pod-%d", i)} }

// window returns the moments that something read between two readings of the
// clock may have seen.
func (s *story) window(read func()) (first, last int) {
	first = int(s.now.Load())
	read()
	return first, min(int(s.now.Load()), len(s.deeds)-1)
}

// explain looks for one moment at which all holders had so much of something.
func (s *story) explain(first, last int, got [storyHolders]int64, of func([storyChains]int) int64) error {
	for v := first; v <= last || v == first; v++ {
		if s.fits(v, got, of) {
			return nil
		}
	}
	return fmt.Errorf("%v was never so between moments %v and %v", got, s.moments[first], s.moments[min(last+1, len(s.moments)-1)])
}

// fits tells whether that was so while deed v was done.
func (s *story) fits(v int, got [storyHolders]int64, of func([storyChains]int) int64) bool {
	for h := range got {
		before, after := of(s.moments[v][h]), of(s.moments[min(v+1, len(s.deeds))][h])
		gradual := v < len(s.deeds) && s.deeds[v].kind <= removing
		between := gradual && min(before, after) <= got[h] && got[h] <= max(before, after)
		if got[h] != before && got[h] != after && !between {
			return false
		}
	}
	return true
}

// teller carries the deeds out.
type teller struct {
	*story
	x       *Index
	at      time.Time
	streams [storyHolders]Stream
	epochs  [storyHolders]uint64
	last    [storyHolders]uint64
}

// tell does everything, one deed after the other.
func (w *teller) tell() error {
	for i := range storyHolders {
		if err := w.open(i); err != nil {
			return err
		}
	}
	for v := range w.deeds {
		if err := w.do(&w.deeds[v], depths(w.wanted(v))); err != nil {
			return fmt.Errorf("deed %d, %+v: %w", v, w.deeds[v], err)
		}
		w.now.Store(int64(v) + 1)
		w.at = w.at.Add(time.Millisecond)
		if v%16 == 0 {
			w.x.Expire(w.at)
		}
	}
	return nil
}

// wanted is what a deed's holder wanted before it.
func (w *teller) wanted(v int) [storyChains]int { return w.moments[v][w.deeds[v].holder] }

// open begins a life of a holder that has nothing. One of them has two groups.
func (w *teller) open(h int) error {
	w.epochs[h]++
	var err error
	w.streams[h], _, err = w.x.Open(Hello{
		Holder: storyHolder(h), Backend: Backend{"ns", "cache"}, Tenant: "ns", Model: "m", HashScheme: "vllm", Epoch: w.epochs[h],
	}, w.at)
	if err != nil {
		return err
	}
	w.last[h] = 0
	return w.delta(h, w.declarations(h))
}

// groups of a holder: the last one has a window beside its full attention.
func (w *teller) groups(h int) []Group {
	groups := []Group{{Kind: FullGroup, BlockSize: 16}}
	if h == storyHolders-1 {
		groups = append(groups, Group{Index: 1, Kind: WindowGroup, Window: 33, BlockSize: 16})
	}
	return groups
}

func (w *teller) declarations(h int) []Change {
	changes := []Change{{Op: DeclareScope, Scope: Scope{BlockSize: 16}}}
	for _, g := range w.groups(h) {
		changes = append(changes, Change{Op: DeclareGroup, Group: g})
	}
	return changes
}

func (w *teller) delta(h int, changes []Change) error {
	w.last[h]++
	outcome, err := w.x.Delta(w.streams[h], w.last[h], changes, w.at, w.at)
	if err == nil && outcome != Applied {
		err = fmt.Errorf("outcome %d", outcome)
	}
	return err
}

// tier is where a holder keeps its blocks.
func storyTier(h int) Tier { return T1 + Tier(h%2) }

// stores are the changes that add the blocks from one depth of a chain to another.
func (w *teller) stores(h, chain, from, to int) []Change {
	var changes []Change
	for _, g := range w.groups(h) {
		c := Change{Op: Store, GroupIndex: g.Index, Tier: storyTier(h), Depth: uint32(from), Hashes: w.chains[chain][from:max(from, to)]}
		if c.HasParent = from > 0; c.HasParent {
			c.Parent = w.chains[chain][from-1]
		}
		changes = append(changes, c)
	}
	return changes
}

// removals take the same away, deepest first.
func (w *teller) removals(h, chain, from, to int) []Change {
	hashes := slices.Clone(w.chains[chain][min(from, to):to])
	slices.Reverse(hashes)
	var changes []Change
	for _, g := range w.groups(h) {
		changes = append(changes, Change{Op: Remove, GroupIndex: g.Index, Tier: storyTier(h), Hashes: hashes})
	}
	return changes
}

func (w *teller) do(d *deed, has [storyChains]int) error {
	h, after := d.holder, depths(d.want)
	switch d.kind {
	case storing:
		return w.delta(h, w.stores(h, d.chain, has[d.chain], after[d.chain]))
	case removing:
		return w.delta(h, w.removals(h, d.chain, after[d.chain], has[d.chain]))
	case clearing:
		return w.delta(h, []Change{{Op: Clear}})
	case promoting:
		return w.promote(h, d.want)
	case dropping:
		w.x.Close(w.streams[h], w.at)
		w.at = w.at.Add(w.x.Lease())
		w.x.Expire(w.at)
	}
	return w.open(h)
}

// promote replaces everything by a snapshot in several chunks, after a gap. Blocks
// arrive before their parents.
func (w *teller) promote(h int, want [storyChains]int) error {
	w.last[h] += 2
	if outcome, err := w.x.Delta(w.streams[h], w.last[h], nil, w.at, w.at); err != nil || outcome != Gap {
		return fmt.Errorf("a skipped delta had outcome %d: %w", outcome, err)
	}
	chunk := Chunk{Sequence: w.last[h], Changes: w.declarations(h)}
	for c, n := range want {
		if err := w.x.Snapshot(w.streams[h], chunk, w.at); err != nil {
			return err
		}
		chunk.Number, chunk.Last, chunk.Changes = chunk.Number+1, c == storyChains-1, append(w.stores(h, c, n/2, n), w.stores(h, c, 0, n/2)...)
	}
	return w.x.Snapshot(w.streams[h], chunk, w.at)
}

// read lets readers of some kinds read until the story has been told.
func (w *teller) read(t *testing.T, kinds map[string]func(*rand.Rand) error) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
	var group errgroup.Group
	var told, failed atomic.Bool
	reads := map[string]*atomic.Int64{}
	for name, read := range kinds {
		count := &atomic.Int64{}
		reads[name] = count
		for i := range uint64(readersPerKind) {
			group.Go(func() error {
				for random := rand.New(rand.NewPCG(i, 2)); !told.Load() && !failed.Load(); count.Add(1) {
					if err := read(random); err != nil {
						failed.Store(true)
						return fmt.Errorf("%s: %w", name, err)
					}
				}
				return nil
			})
		}
	}
	group.Go(func() error {
		defer told.Store(true)
		return w.tell()
	})
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	for name, n := range reads {
		t.Logf("%s: %d", name, n.Load())
	}
}
