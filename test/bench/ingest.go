/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/kvevents"
	"inferencecache.io/inference-cache/pkg/subscriber/mirror"
)

// Targets of what one stored block costs.
const (
	storeTarget       = 0.5 // microseconds
	allocationsTarget = 0
)

// Limits of the engine whose events are read. It holds residentGroups groups of
// chains at a time and goes through more of them than its mirror remembers, so
// that every block that comes is new.
const (
	residentGroups = 2
	// batchesAtOnce are timed, and reported to the index, together: as many as a
	// subscriber lets pile up when its engine is busy.
	batchesAtOnce = 4096 / step
)

// ingest measures the way of an engine's events into the resident index: decode,
// hash, find out what changed, apply.
func (b *bench) ingest(context.Context) error {
	f, err := b.fleet()
	if err != nil {
		return err
	}
	e, err := recordEngine(b.ingestGroups)
	if err != nil {
		return err
	}
	in, err := newIngester(f)
	if err != nil {
		return err
	}
	// Fill the engine and go round once, so that all buffers have their size.
	for g := range residentGroups {
		if err := in.take(e.groups[g].stores); err != nil {
			return err
		}
	}
	if _, _, err := in.round(e); err != nil {
		return err
	}
	stores, removals := make([]usage, b.runs), make([]usage, b.runs)
	for i := range b.runs {
		if stores[i], removals[i], err = in.round(e); err != nil {
			return err
		}
	}
	store, allocations := mean(stores)
	remove, _ := mean(removals)
	b.atMost("one stored block, from the engine's message into the index",
		fmt.Sprintf("decode, hash, mirror, index; %d blocks of %d tokens a message, %s resident", step, blockSize, millions(b.entries)),
		microseconds, store, storeTarget)
	b.atMost("allocations for one stored block", "steady state of a full engine", count, allocations, allocationsTarget)
	b.tell("one removed block, the same way", fmt.Sprintf("%.2f µs", remove))
	return b.stages(f, e)
}

// stages tells what decoding and the index take of a stored block.
func (b *bench) stages(f *fleet, e *engine) error {
	var decoder kvevents.Decoder
	payloads := e.groups[0].stores
	var err error
	decode := b.compare(subject{threadCPU, func(n int) {
		if _, failed := decoder.Decode(payloads[n%len(payloads)]); failed != nil {
			err = failed
		}
	}})[0].median()
	if err != nil {
		return err
	}
	member, err := f.join(plainModel, 1, fullGroup)
	if err != nil {
		return err
	}
	store, remove := make(samples, b.runs), make(samples, b.runs)
	for i := range b.runs {
		if store[i], remove[i], err = f.turnOver(member, writerChains+1<<22); err != nil {
			return err
		}
	}
	b.tell("of that, decoding; the index alone", fmt.Sprintf("%s; %s stored, %s removed", short(decode/step), short(store.median()), short(remove.median())))
	return nil
}

// turnOver stores a group of chains as an engine does and removes them again. It
// returns what each block took.
func (f *fleet) turnOver(member int, first chain) (store, remove time.Duration, err error) {
	store = threadCPU(func() {
		for from := 0; from < longChain && err == nil; from += step {
			for c := chain(0); c < groupChains && err == nil; c++ {
				err = f.store(member, 0, first+c, from, step)
			}
		}
	})
	remove = threadCPU(func() {
		for c := chain(0); c < groupChains && err == nil; c++ {
			for from := longChain - step; from >= 0 && err == nil; from -= step {
				err = f.remove(member, first+c, from, step)
			}
		}
	})
	const blocks = groupChains * longChain
	return store / blocks, remove / blocks, err
}

// ingester takes an engine's messages.
type ingester struct {
	fleet   *fleet
	member  int
	decoder kvevents.Decoder
	mirror  *mirror.Mirror
	changes []index.Change
}

func newIngester(f *fleet) (*ingester, error) {
	member, err := f.join(plainModel, 1)
	if err != nil {
		return nil, err
	}
	return &ingester{fleet: f, member: member, mirror: mirror.New(mirror.Options{Limits: mirror.Limits{Ghosts: ghosts}})}, nil
}

// take applies messages, batchesAtOnce at a time.
func (in *ingester) take(payloads [][]byte) error {
	for some := range slices.Chunk(payloads, batchesAtOnce) {
		for _, payload := range some {
			batch, err := in.decoder.Decode(payload)
			if err != nil {
				return err
			}
			in.mirror.Absorb(batch)
		}
		in.changes = in.changes[:0]
		for _, c := range in.mirror.Flush() {
			in.changes = append(in.changes, changeOf(c))
		}
		if err := in.fleet.report(in.member, in.changes); err != nil {
			return err
		}
	}
	return nil
}

// usage is what blocks cost.
type usage struct {
	took    time.Duration
	mallocs uint64
	blocks  int
}

// timed takes messages and adds what that costs.
func (in *ingester) timed(u *usage, payloads [][]byte) error {
	var before, after runtime.MemStats
	var err error
	runtime.ReadMemStats(&before)
	u.took += processCPU(func() { err = in.take(payloads) })
	runtime.ReadMemStats(&after)
	u.mallocs += after.Mallocs - before.Mallocs
	u.blocks += len(payloads) * step
	return err
}

// round lets the engine replace each group of chains by another one until it is
// where it was.
func (in *ingester) round(e *engine) (stores, removals usage, err error) {
	for g := range e.groups {
		out, into := e.groups[g].removals, e.groups[(g+residentGroups)%len(e.groups)].stores
		for at := 0; at < len(into) && err == nil; at += batchesAtOnce {
			if err = in.timed(&removals, out[at:min(at+batchesAtOnce, len(out))]); err == nil {
				err = in.timed(&stores, into[at:min(at+batchesAtOnce, len(into))])
			}
		}
	}
	return stores, removals, err
}

// mean returns the median time of a block in microseconds and the median number
// of its allocations.
func mean(rounds []usage) (took, mallocs float64) {
	var times, counts []float64
	for _, u := range rounds {
		times = append(times, float64(u.took.Nanoseconds())/1e3/float64(u.blocks))
		counts = append(counts, float64(u.mallocs)/float64(u.blocks))
	}
	return median(times), median(counts)
}

// changeOf turns a change of the mirror into one of the index, which elsewhere is
// done by the report protocol.
func changeOf(c mirror.Change) index.Change {
	switch c := c.(type) {
	case mirror.ScopeDeclared:
		return index.Change{Op: index.DeclareScope, ScopeID: c.ID, Scope: index.Scope{Adapter: c.Adapter, BlockSize: c.BlockSize, Salted: c.Salted}}
	case mirror.GroupDeclared:
		return index.Change{Op: index.DeclareGroup, Group: index.Group{
			Index: c.Index, Kind: index.GroupKind(c.Kind), SpecKind: c.SpecKind, Window: c.Window, BlockSize: c.BlockSize,
		}}
	case mirror.Stored:
		return index.Change{
			Op: index.Store, ScopeID: c.Scope, GroupIndex: c.Group, Tier: index.Tier(c.Tier), Certainty: index.Certainty(c.Certainty - 1),
			Parent: c.Parent.Hash, HasParent: c.Parent.Present, Depth: c.Depth, Hashes: c.Hashes,
		}
	case mirror.Removed:
		return index.Change{
			Op: index.Remove, ScopeID: c.Scope, GroupIndex: c.Group, Tier: index.Tier(c.Tier), Certainty: index.Certainty(c.Certainty - 1), Hashes: c.Hashes,
		}
	case mirror.ConfidenceChanged:
		return index.Change{Op: index.SetConfidence, Confidence: index.Confidence{
			Conflicts: c.Conflicts, Unresolved: c.Unresolved, Unbounded: c.Unbounded, Degraded: c.Degraded,
		}}
	}
	return index.Change{Op: index.Clear}
}
