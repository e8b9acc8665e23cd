/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"
	"runtime"

	"inferencecache.io/inference-cache/pkg/index"
)

// Targets of memory and its collection.
const (
	oneHolderTarget    = 24
	eightHoldersTarget = 5
	collectTarget      = 20
	// sharingHolders have every block of the index that they share.
	sharingHolders = 8
)

// memory tells what an entry of the resident index takes, and a garbage collection
// beside it.
func (b *bench) memory(context.Context) error {
	if _, err := b.fleet(); err != nil {
		return err
	}
	b.atMost(fmt.Sprintf("memory per entry, %s entries, 1 holder each", millions(b.entries)),
		fmt.Sprintf("chains of %d blocks grown %d at a time, %d growing at once", longChain, step, growing), bytesEach, b.residentBytes, oneHolderTarget)
	runtime.GC()
	took := make(samples, b.runs)
	for i := range took {
		took[i] = processCPU(runtime.GC)
	}
	b.atMost(fmt.Sprintf("garbage collection with %s entries", millions(b.entries)),
		"CPU of the whole process", milliseconds, took.median().Seconds()*1e3, collectTarget)
	return nil
}

// sharing tells what an entry takes when chains are short, and when several
// holders have the same. It lets the resident index go.
func (b *bench) sharing(context.Context) error {
	b.release()
	short, err := b.population(growth{first: residentChains, chains: b.entries / step, blocks: step, copies: 1})
	if err != nil {
		return err
	}
	b.atMost(fmt.Sprintf("memory per entry, %s entries, 1 holder each", millions(b.entries)),
		fmt.Sprintf("chains of %d blocks", step), bytesEach, short, oneHolderTarget)
	shared, err := b.population(growth{
		first: residentChains, chains: b.entries / longChain / sharingHolders, blocks: longChain, copies: sharingHolders,
	})
	if err != nil {
		return err
	}
	b.atMost(fmt.Sprintf("memory per entry, %s entries, %d holders of each block", millions(b.entries), sharingHolders),
		fmt.Sprintf("chains of %d blocks grown %d at a time", longChain, step), bytesEach, shared, eightHoldersTarget)
	return nil
}

// population returns the bytes that each entry of a new index takes.
func (b *bench) population(g growth) (float64, error) {
	before := heap()
	f := newFleet(index.Options{})
	if _, err := f.join(plainModel, b.holders, fullGroup); err != nil {
		return 0, err
	}
	if err := f.grow(g, b.holders); err != nil {
		return 0, err
	}
	grown := heap() - before
	runtime.KeepAlive(f)
	return float64(grown) / float64(g.chains*g.blocks*g.copies), nil
}
