/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"slices"
	"time"

	"inferencecache.io/inference-cache/pkg/index"
)

// Names of the workload.
const (
	tenant = "team"
	scheme = "vllm"
	// plainModel has one full-attention group, hybridModel a window group as well.
	plainModel  = "plain"
	hybridModel = "hybrid"
)

// The groups of the models.
var (
	fullGroup = index.Group{Index: 0, Kind: index.FullGroup, SpecKind: "full_attention", BlockSize: blockSize}
	// windowGroup needs the last 64 blocks of a prefix.
	windowGroup = index.Group{Index: 1, Kind: index.WindowGroup, SpecKind: "sliding_window", Window: 64*blockSize + 1, BlockSize: blockSize}
)

// fleet is an index with holders that report to it without a connection.
type fleet struct {
	x       *index.Index
	now     time.Time
	members []member
	// chains is how many residentChains there are.
	chains  int
	changes [1]index.Change
	hashes  []uint64
}

// member is one holder's session.
type member struct {
	hello    index.Hello
	stream   index.Stream
	sequence uint64
}

// newFleet returns a fleet without members.
func newFleet(options index.Options) *fleet {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	options.WarmUp = -1
	return &fleet{x: index.New(options, now), now: now}
}

// join adds holders of a model and returns the number of the first.
func (f *fleet) join(model string, holders int, groups ...index.Group) (int, error) {
	first := len(f.members)
	for i := range holders {
		m := member{hello: index.Hello{
			Holder: index.Holder{Namespace: tenant, Pod: fmt.Sprintf("%s-engine-%d", model, first+i)},
			Tenant: tenant, Model: model, HashScheme: scheme, Engine: "vllm/0.32.0", Epoch: 1,
		}}
		stream, _, err := f.x.Open(m.hello, f.now)
		if err != nil {
			return 0, err
		}
		m.stream = stream
		f.members = append(f.members, m)
		if err := f.declare(first+i, groups); err != nil {
			return 0, err
		}
	}
	return first, nil
}

// declare names the scope and the groups of a member.
func (f *fleet) declare(i int, groups []index.Group) error {
	changes := []index.Change{{Op: index.DeclareScope, Scope: index.Scope{BlockSize: blockSize}}}
	for _, g := range groups {
		changes = append(changes, index.Change{Op: index.DeclareGroup, Group: g})
	}
	return f.report(i, changes)
}

// report applies the next delta of a member.
func (f *fleet) report(i int, changes []index.Change) error {
	m := &f.members[i]
	m.sequence++
	outcome, err := f.x.Delta(m.stream, m.sequence, changes, f.now, f.now)
	if err != nil {
		return err
	}
	if outcome != index.Applied {
		return fmt.Errorf("delta %d of holder %d has outcome %d", m.sequence, i, outcome)
	}
	return nil
}

// store reports that a member has blocks from to from+n of a chain in a group.
func (f *fleet) store(i int, group uint32, c chain, from, n int) error {
	f.changes[0] = index.Change{Op: index.Store, GroupIndex: group, Tier: index.T1, Depth: uint32(from)}
	if from > 0 {
		f.changes[0].Parent, f.changes[0].HasParent = c.at(from-1), true
	}
	f.hashes = c.append(f.hashes[:0], from, n)
	f.changes[0].Hashes = f.hashes
	return f.report(i, f.changes[:])
}

// remove reports that a member has lost blocks from to from+n of a chain, the last
// one first.
func (f *fleet) remove(i int, c chain, from, n int) error {
	f.hashes = c.append(f.hashes[:0], from, n)
	slices.Reverse(f.hashes)
	f.changes[0] = index.Change{Op: index.Remove, GroupIndex: fullGroup.Index, Tier: index.T1, Hashes: f.hashes}
	return f.report(i, f.changes[:])
}

// chain is a prompt whose hashes are made from its number, so that nobody has to
// keep them.
type chain uint64

// at returns the hash of one block.
func (c chain) at(i int) uint64 {
	// The output function of SplitMix64 over a number that no other block has.
	z := (uint64(c)<<20 + uint64(i) + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// append adds the hashes of n blocks.
func (c chain) append(dst []uint64, from, n int) []uint64 {
	for i := range n {
		dst = append(dst, c.at(from+i))
	}
	return dst
}

// hashes returns the first n hashes.
func (c chain) hashes(n int) []uint64 { return c.append(make([]uint64, 0, n), 0, n) }

// Numbers of chains; those of one kind count up from here.
const (
	residentChains chain = 1 << 32
	stairChains    chain = 2 << 32
	hybridChains   chain = 3 << 32
	writerChains   chain = 4 << 32
)

// growth is a population of chains that grow at the same time.
type growth struct {
	first chain
	// chains of blocks each, growing by step, each held by so many members.
	chains, blocks, copies int
}

// growing is how many chains grow at a time.
const growing = 64

// grow stores a population at the first members members.
func (f *fleet) grow(g growth, members int) error {
	for first := 0; first < g.chains; first += growing {
		for from := 0; from < g.blocks; from += step {
			for n := first; n < min(first+growing, g.chains); n++ {
				for k := range g.copies {
					if err := f.store((n+k)%members, 0, g.first+chain(n), from, min(step, g.blocks-from)); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// climb stores a chain at members in the form of a stair: the k-th of them has the
// first blocks×k/members blocks, and in a window group the last ones of these.
func (f *fleet) climb(c chain, first, members, blocks int, window bool) error {
	for k := range members {
		held := stairStep(k, members, blocks)
		if err := f.store(first+k, fullGroup.Index, c, 0, held); err != nil {
			return err
		}
		if !window {
			continue
		}
		from := max(0, held-int(windowGroup.Window)/blockSize)
		if err := f.store(first+k, windowGroup.Index, c, from, held-from); err != nil {
			return err
		}
	}
	return nil
}

// stairStep is the number of blocks that the k-th of members has of a chain.
func stairStep(k, members, blocks int) int { return max(1, blocks*(k+1)/members) }

// asker looks chains up, always with the same buffers.
type asker struct {
	x     *index.Index
	query index.Query
	hits  []index.Hit
}

func newAsker(x *index.Index, model string) *asker {
	return &asker{x: x, query: index.Query{Tenant: tenant, Model: model, Chains: make([]index.Chain, 1)}}
}

// ask returns who holds a chain. The answer is valid until the next question.
func (a *asker) ask(hashes []uint64) []index.Hit {
	a.query.Chains[0] = index.Chain{BlockSize: blockSize, Hashes: hashes}
	a.hits, _ = a.x.Lookup(&a.query, a.hits[:0])
	return a.hits
}

// Weights of the tiers in a score, in tenths.
const nearWeight, hostWeight, farWeight = 10, 8, 5

// best scores every hit, as the indexes beside ours do, and returns the position
// of the best one and its score.
func best(hits []index.Hit) (at int, most int32) {
	for i := range hits {
		tiers := &hits[i].Tiers
		if score := nearWeight*tiers[0] + hostWeight*tiers[1] + farWeight*tiers[2]; score > most {
			at, most = i, score
		}
	}
	return at, most
}

// checkStair fails unless an answer about a stair names every step of it.
func checkStair(hits []index.Hit, members, blocks int) error {
	lengths := make([]int, 0, len(hits))
	for _, h := range hits {
		lengths = append(lengths, int(h.Blocks))
	}
	slices.Sort(lengths)
	for k := range members {
		if want := stairStep(k, members, blocks); len(lengths) != members || lengths[k] != want {
			return fmt.Errorf("a stair of %d blocks was answered with %v", blocks, lengths)
		}
	}
	return nil
}
