/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"
	"time"

	"inferencecache.io/inference-cache/pkg/index"
)

// dropTarget is in microseconds.
const dropTarget = 10

// dropModel has holders with few blocks.
const dropModel = "small"

// drops measures how long it takes until what a holder had is no longer found,
// and how long what is left of it then takes to clear up.
func (b *bench) drops(context.Context) error {
	f, err := b.fleet()
	if err != nil {
		return err
	}
	small, err := f.join(dropModel, b.runs, fullGroup)
	if err != nil {
		return err
	}
	for i := range b.runs {
		if err := f.store(small+i, 0, writerChains+1<<21+chain(i), 0, step); err != nil {
			return err
		}
	}
	little, large := make(samples, b.runs), make(samples, b.runs)
	for i := range b.runs {
		if little[i], err = f.restart(small + i); err != nil {
			return err
		}
		if large[i], err = f.restart(i); err != nil {
			return err
		}
	}
	b.atMost(fmt.Sprintf("drop a holder of %s blocks, %s resident", millions(b.entries/b.holders), millions(b.entries)),
		fmt.Sprintf("%s; one of %d blocks %s", short(large.median()), step, short(little.median())),
		microseconds, float64(large.median())/float64(time.Microsecond), dropTarget)
	b.tell(fmt.Sprintf("clear up behind %d such holders", b.runs), short(f.settle())+" in all, spread over later calls")
	return nil
}

// restart replaces a member by a new incarnation of the same holder, which drops
// everything that the old one had, and returns how long that takes.
func (f *fleet) restart(i int) (time.Duration, error) {
	m := &f.members[i]
	m.hello.Epoch++
	m.sequence = 0
	var err error
	took := threadCPU(func() { m.stream, _, err = f.x.Open(m.hello, f.now) })
	if err != nil {
		return 0, err
	}
	groups := []index.Group{fullGroup}
	return took, f.declare(i, groups)
}

// settle lets the index clear up until nothing of what was dropped is left, and
// returns how long that takes.
func (f *fleet) settle() time.Duration {
	var took time.Duration
	before := int64(-1)
	for blocks := f.x.Prefixes()[tenant]; blocks != before; blocks = f.x.Prefixes()[tenant] {
		before = blocks
		took += threadCPU(func() { f.x.Expire(f.now) })
	}
	return took
}
