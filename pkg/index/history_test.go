/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/test/mutation"
)

// historyTTL is how long the histories believe inferred blocks.
const historyTTL = time.Minute

// histories is how many TestHistories plays; make fuzz asks for more.
var histories = flag.Uint64("histories", 5_000, "number of random histories")

// TestHistories plays random histories of several holders on the index and on
// the reference, with restarts, gaps, duplicates, lost streams and interrupted
// snapshots, and compares every answer.
func TestHistories(t *testing.T) {
	for seed := range *histories {
		if msg := playHistory(seed, 30); msg != "" {
			t.Fatalf("seed %d: %s", seed, msg)
		}
	}
}

func FuzzHistories(f *testing.F) {
	corpus := mutation.New(f, 100)
	corpus.Add(uint64(1), uint8(80))
	corpus.Fuzz(func(t *testing.T, seed uint64, steps uint8) {
		if msg := playHistory(seed, int(steps)); msg != "" {
			t.Fatalf("seed %d: %s", seed, msg)
		}
	})
}

// player drives both sides.
type player struct {
	rng     *rand.Rand
	x       *Index
	ref     *reference
	now     time.Time
	streams map[Holder]Stream
	epochs  map[Holder]uint64
	// bounded histories change limits on the way, so that blocks are forgotten.
	bounded bool
}

// groupSets are the shapes of engines that the histories mix.
var groupSets = [][]Group{
	{{Index: 0, Kind: FullGroup, BlockSize: 16}},
	{{Index: 0, Kind: WindowGroup, Window: 33, BlockSize: 16}, {Index: 1, Kind: FullGroup, BlockSize: 16}},
	{{Index: 0, Kind: WindowGroup, Window: 20, BlockSize: 16}},
	{{Index: 0, Kind: FullGroup, BlockSize: 16}, {Index: 3, Kind: CheckpointGroup, BlockSize: 16}},
}

func playHistory(seed uint64, steps int) string {
	rng := rand.New(rand.NewPCG(seed, 1))
	now := time.Unix(1_800_000_000, 0)
	options := Options{Lease: 30 * time.Second, WarmUp: -1, InferredTTL: historyTTL}
	p := &player{
		rng: rng, now: now, x: New(options, now), streams: map[Holder]Stream{}, epochs: map[Holder]uint64{},
		ref: &reference{options: options, holders: map[Holder]*refHolder{}, chains: map[uint64]refBlock{}},
	}
	if p.bounded = seed%3 == 0; p.bounded {
		p.x.options.Memory = 1<<10 + rng.Int64N(1<<13)
	}
	p.grow(nil, 0)
	for step := range steps {
		p.step()
		if msg := p.compare(); msg != "" {
			return fmt.Sprintf("after step %d: %s", step, msg)
		}
	}
	return leftOver(p.x, p.now)
}

// grow builds a tree of chains: every node is the hash of the path to it.
func (p *player) grow(chain []uint64, depth int) {
	for range 1 + p.rng.IntN(2) {
		hash := p.rng.Uint64()
		next := append(slices.Clone(chain), hash)
		p.ref.chains[hash] = refBlock{depth, next}
		if depth < 5 {
			p.grow(next, depth+1)
		} else {
			p.ref.universe = append(p.ref.universe, next)
		}
	}
}

func (p *player) holder() Holder {
	i := p.rng.IntN(4)
	return Holder{Namespace: "ns", Pod: fmt.Sprintf("pod-%d", i/2), Rank: uint32(i % 2)}
}

func (p *player) step() {
	if p.bounded && p.rng.IntN(6) == 0 {
		p.x.SetTenantLimits("ns", &TenantLimits{MaxBlocks: p.rng.Int64N(40) - 1, Order: Eviction(p.rng.IntN(2))})
	}
	h := p.holder()
	ref := p.ref.holders[h]
	switch n := p.rng.IntN(20); {
	case ref == nil || !ref.connected || n == 0:
		p.open(h)
	case n == 1:
		p.x.Close(p.streams[h], p.now)
		ref.connected, ref.leaseEnd, ref.staged = false, p.now.Add(p.ref.options.Lease), nil
	case n == 2:
		p.advance(time.Duration(p.rng.IntN(40)) * time.Second)
	case n == 3:
		last := ref.sequence + uint64(p.rng.IntN(2))
		_, _ = p.x.Heartbeat(p.streams[h], last)
		if !ref.awaiting && ref.staged == nil && last > ref.sequence {
			ref.awaiting, ref.target = true, max(ref.target, last)
		}
	case n < 7 || ref.awaiting:
		p.snapshot(h)
	default:
		p.delta(h)
	}
}

func (p *player) advance(d time.Duration) {
	p.now = p.now.Add(d)
	p.x.Expire(p.now)
	for holder, h := range p.ref.holders {
		switch {
		case !h.awaiting:
			h.since = time.Time{}
		case h.since.IsZero():
			h.since = p.now
		}
		withholds := h.awaiting && !p.now.Before(h.since.Add(2*p.ref.options.Lease))
		if (!h.connected && !p.now.Before(h.leaseEnd)) || withholds {
			delete(p.ref.holders, holder)
			continue
		}
		h.held.expire(p.now)
	}
}

func (p *player) open(holder Holder) {
	ref := p.ref.holders[holder]
	if ref == nil || p.rng.IntN(3) == 0 {
		p.epochs[holder]++
		ref = &refHolder{fresh: true, held: refSet{}, groups: map[uint32]Group{}}
	}
	hello := Hello{
		Holder: holder, Backend: Backend{"ns", holder.Pod}, Tenant: "ns", Model: "m", HashScheme: "vllm",
		Epoch: p.epochs[holder], LastSequence: ref.sequence + uint64(p.rng.IntN(3)),
	}
	if hello.LastSequence > 0 {
		hello.OldestSequence = 1 + uint64(p.rng.IntN(int(hello.LastSequence)))
	}
	stream, reply, err := p.x.Open(hello, p.now)
	if err != nil {
		panic(err)
	}
	ref.hello, ref.connected, ref.staged, ref.target = hello, true, nil, hello.LastSequence
	resumable := ref.sequence == hello.LastSequence || hello.OldestSequence <= ref.sequence+1
	ref.awaiting = !resumable
	if reply.SnapshotWanted != ref.awaiting {
		panic(fmt.Sprintf("snapshot wanted: %t, want %t", reply.SnapshotWanted, ref.awaiting))
	}
	p.ref.holders[holder], p.streams[holder] = ref, stream
}

// changes makes random changes for a holder's shape; the declarations come first.
func (p *player) changes(holder Holder, n int) []Change {
	shape := groupSets[(int(holder.Rank)+len(holder.Pod)+int(holder.Pod[4]))%len(groupSets)]
	var out []Change
	for _, g := range shape {
		out = append(out, Change{Op: DeclareGroup, Group: g})
	}
	for id, adapter := range []string{"", "lora"} {
		out = append(out, Change{Op: DeclareScope, ScopeID: uint32(id), Scope: Scope{Adapter: adapter, BlockSize: 16}})
	}
	for range n {
		chain := p.ref.universe[p.rng.IntN(len(p.ref.universe))]
		first := p.rng.IntN(len(chain))
		if p.rng.IntN(2) == 0 {
			first = 0
		}
		c := Change{
			Op: Store, ScopeID: uint32(p.rng.IntN(2)), GroupIndex: shape[p.rng.IntN(len(shape))].Index,
			Tier: T1 + Tier(p.rng.IntN(3)), Depth: uint32(first), Hashes: chain[first : first+1+p.rng.IntN(len(chain)-first)],
		}
		if first > 0 {
			c.Parent, c.HasParent = chain[first-1], true
		}
		switch p.rng.IntN(8) {
		case 0:
			c.Certainty = Possible
		case 1:
			c.Certainty, c.Tier = Inferred, T2
		case 2, 3:
			c.Op, c.HasParent = Remove, false
		case 4:
			if p.rng.IntN(6) == 0 {
				c = Change{Op: Clear}
			}
		}
		out = append(out, c)
	}
	return out
}

func (p *player) delta(holder Holder) {
	ref := p.ref.holders[holder]
	sequence := ref.sequence + 1
	if p.rng.IntN(8) == 0 {
		sequence = ref.sequence + uint64(p.rng.IntN(4))
	}
	changes := p.changes(holder, 1+p.rng.IntN(3))
	outcome, err := p.x.Delta(p.streams[holder], sequence, changes, time.Time{}, p.now)
	if err != nil {
		panic(err)
	}
	want := Applied
	switch {
	case ref.awaiting:
		want = Ignored
	case sequence <= ref.sequence:
		want = Duplicate
	case sequence > ref.sequence+1:
		want = Gap
		ref.awaiting, ref.target, ref.staged = true, max(ref.target, sequence), nil
	default:
		scopes := map[uint32]Scope{}
		for _, c := range changes {
			ref.held.apply(scopes, ref.groups, c, p.now.Add(p.ref.options.InferredTTL))
		}
		ref.sequence = sequence
		ref.fresh = ref.fresh && sequence < ref.target
	}
	if outcome != want {
		panic(fmt.Sprintf("delta %d: outcome %d, want %d", sequence, outcome, want))
	}
}

// snapshot sends one chunk: the first, a later or the last one.
func (p *player) snapshot(holder Holder) {
	ref := p.ref.holders[holder]
	st := ref.staged
	if st == nil || p.rng.IntN(6) == 0 {
		st = &refStaged{held: refSet{}, groups: map[uint32]Group{}, sequence: ref.sequence + uint64(p.rng.IntN(3))}
		ref.staged = st
	}
	chunk := Chunk{Sequence: st.sequence, Number: st.next, Last: p.rng.IntN(2) == 0, Changes: p.changes(holder, 2)}
	if err := p.x.Snapshot(p.streams[holder], chunk, p.now); err != nil {
		panic(err)
	}
	scopes := map[uint32]Scope{}
	for _, c := range chunk.Changes {
		st.held.apply(scopes, st.groups, c, p.now.Add(p.ref.options.InferredTTL))
	}
	st.next++
	ref.since = p.now
	if chunk.Last {
		ref.held, ref.groups, ref.sequence, ref.target = st.held, st.groups, st.sequence, st.sequence
		ref.held.expire(p.now)
		ref.staged, ref.awaiting, ref.fresh = nil, false, false
	}
}

func (p *player) compare() string {
	for _, adapter := range []string{"", "lora"} {
		chain := p.ref.universe[p.rng.IntN(len(p.ref.universe))]
		prompt := 0
		if p.rng.IntN(2) == 0 {
			prompt = len(chain) * 16
		}
		if diff := p.compareLookup(adapter, chain, prompt); diff != "" {
			return diff
		}
	}
	if p.rng.IntN(4) == 0 {
		return p.compareViews()
	}
	return ""
}

// difference is cmp.Diff, but cheap when there is none.
func difference(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got)
}

func (p *player) compareLookup(adapter string, chain []uint64, prompt int) string {
	got, _ := p.x.Lookup(&Query{Tenant: "ns", Model: "m", Adapter: adapter, Chains: []Chain{{16, chain}}, PromptTokens: prompt}, nil)
	forgot := p.forgot()
	have := map[Holder][3]any{}
	bounds := map[Holder]int{}
	for _, m := range got {
		holder := m.Session.Holder()
		if forgot[holder] {
			bounds[holder] = int(m.Tokens)
			if m.Exact {
				return fmt.Sprintf("%v has forgotten blocks and is exact", holder)
			}
			continue
		}
		have[holder] = [3]any{int(m.Tokens), m.Exact, m.Inferred}
	}
	if prompt > 0 {
		chain = chain[:(prompt-1)/16]
	}
	want := map[Holder][3]any{}
	for holder, h := range p.ref.holders {
		announced, likely, upper := h.reuse(adapter, chain, Announced), h.reuse(adapter, chain, Inferred), h.reuse(adapter, chain, Possible)
		if forgot[holder] {
			if bound, listed := bounds[holder]; !listed || bound > likely*16 {
				return fmt.Sprintf("%v has forgotten blocks: %d tokens, listed %t, at most %d", holder, bound, listed, likely*16)
			}
			continue
		}
		if upper > 0 {
			want[holder] = [3]any{likely * 16, upper == likely && likely == announced, likely > announced}
		}
	}
	if diff := difference(want, have); diff != "" {
		return "lookup differs (-want +got):\n" + diff
	}
	return ""
}

// forgot returns the holders of whom the index does not keep everything.
func (p *player) forgot() map[Holder]bool {
	forgot := map[Holder]bool{}
	if !p.bounded {
		return forgot
	}
	views, _ := p.x.Holders(p.now)
	for _, v := range views {
		forgot[v.Holder] = v.Forgotten > 0
	}
	return forgot
}

func (p *player) compareViews() string {
	views, _ := p.x.Holders(p.now)
	if len(views) != len(p.ref.holders) {
		return fmt.Sprintf("%d holders, want %d", len(views), len(p.ref.holders))
	}
	partial := false
	for _, v := range views {
		h := p.ref.holders[v.Holder]
		if v.Forgotten > 0 {
			partial = true
			continue
		}
		blocks, prefixes := h.counts()
		want := []any{h.state(), h.sequence, h.hello.Epoch, blocks, prefixes}
		if diff := difference(want, []any{v.State, v.Sequence, v.Epoch, v.Blocks, v.Prefixes}); diff != "" {
			return fmt.Sprintf("holder %v differs (-want +got):\n%s", v.Holder, diff)
		}
	}
	if partial {
		return ""
	}
	backend := Backend{"ns", "pod-0"}
	var got []Item
	var after *ItemKey
	for more := true; more; {
		var page []Item
		page, more = p.x.List(ListQuery{Backend: backend, After: after, Limit: 1 + p.rng.IntN(5)})
		got = append(got, page...)
		if more {
			after = &page[len(page)-1].ItemKey
		}
	}
	want := p.ref.items(backend)
	if len(got)+len(want) == 0 {
		return ""
	}
	if diff := difference(want, got); diff != "" {
		return "list differs (-want +got):\n" + diff
	}
	return ""
}
