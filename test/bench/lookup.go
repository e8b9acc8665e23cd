/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"
	"time"
)

// What the peers took for a lookup of askedChain blocks that 64 holders have in the
// form of a stair, on the reference machine.
const (
	peerNestedMap = 7336 * time.Microsecond
	peerKeyWalk   = 364 * time.Microsecond
)

// Lengths of prompts whose lookups are compared.
const (
	shortChain   = 64
	longestChain = 8192
)

// Targets of lookups.
const (
	nestedMapTarget = 5000
	keyWalkTarget   = 300
	honesty         = 2
	lengthTarget    = 1.5
	groupsTarget    = 2
)

// lookups compares lookups with those of the baselines, and with each other.
func (b *bench) lookups(context.Context) error {
	f, err := b.fleet()
	if err != nil {
		return err
	}
	plain, err := b.stairs(f, plainModel, stairChains, 0, askedChain, false)
	if err != nil {
		return err
	}
	if err := b.baselines(plain); err != nil {
		return err
	}
	if err := b.lengths(f); err != nil {
		return err
	}
	return b.groups(f, plain)
}

// baselines compares a lookup with those of the indexes beside ours, and these
// with what the projects took that they stand for.
func (b *bench) baselines(ours subject) error {
	nested, err := b.nestedMap()
	if err != nil {
		return err
	}
	walk, err := b.keyWalk()
	if err != nil {
		return err
	}
	got := b.compare(calibration(), ours, nested, walk)
	multiply := float64(got[0].median()) / multiplications
	what := fmt.Sprintf("lookup, %d holders × %d blocks, %s resident", b.holders, askedChain, millions(b.entries))
	for i, base := range []struct {
		name   string
		peer   time.Duration
		target float64
	}{{"nested map", peerNestedMap, nestedMapTarget}, {"key walk", peerKeyWalk, keyWalkTarget}} {
		took := got[2+i]
		b.atLeast(what+", against the "+base.name,
			fmt.Sprintf("%s; %s with %s resident", short(got[1].median()), short(took.median()), millions(b.baseline)),
			times, took.over(got[1]), base.target)
	}
	b.tell("one dependent multiplication", fmt.Sprintf("%.2f ns here, %.2f ns where the peers were measured", multiply, referenceMultiply))
	for i, base := range []struct {
		name string
		peer time.Duration
	}{{"nested map", peerNestedMap}, {"key walk", peerKeyWalk}} {
		scaled := float64(base.peer) / (multiplications * referenceMultiply)
		b.within(fmt.Sprintf("the %s ÷ its peer on this machine", base.name),
			fmt.Sprintf("%s; the peer %s there, %s here", short(got[2+i].median()), short(base.peer), short(time.Duration(scaled*float64(got[0].median())))),
			got[2+i].over(got[0])/scaled, honesty)
	}
	return nil
}

// lengths compares lookups of long and short prompts.
func (b *bench) lengths(f *fleet) error {
	little, err := b.stairs(f, plainModel, stairChains+1<<20, 0, shortChain, false)
	if err != nil {
		return err
	}
	large, err := b.stairs(f, plainModel, stairChains+2<<20, 0, longestChain, false)
	if err != nil {
		return err
	}
	got := b.compare(little, large)
	b.atMost(fmt.Sprintf("lookup of %d blocks ÷ %d blocks, %d holders", longestChain, shortChain, b.holders),
		fmt.Sprintf("%s; %s", short(got[1].median()), short(got[0].median())), fraction, got[1].over(got[0]), lengthTarget)
	return nil
}

// groups compares lookups of a model with two groups with those of a plain one.
func (b *bench) groups(f *fleet, plain subject) error {
	first, err := f.join(hybridModel, b.holders, fullGroup, windowGroup)
	if err != nil {
		return err
	}
	hybrid, err := b.stairs(f, hybridModel, hybridChains, first, askedChain, true)
	if err != nil {
		return err
	}
	got := b.compare(plain, hybrid)
	b.atMost(fmt.Sprintf("lookup with a full and a window group ÷ with one group, %d × %d", b.holders, askedChain),
		fmt.Sprintf("%s; %s", short(got[1].median()), short(got[0].median())), fraction, got[1].over(got[0]), groupsTarget)
	return nil
}

// stairs stores b.prompts chains in the form of stairs, checks that they are
// found, and returns the lookup of one of them after the other, scores included.
func (b *bench) stairs(f *fleet, model string, numbers chain, first, blocks int, window bool) (subject, error) {
	prompts := make([][]uint64, b.prompts)
	for i := range prompts {
		c := numbers + chain(i)
		prompts[i] = c.hashes(blocks)
		if err := f.climb(c, first, b.holders, blocks, window); err != nil {
			return subject{}, err
		}
	}
	a := newAsker(f.x, model)
	for _, prompt := range prompts {
		if err := checkStair(a.ask(prompt), b.holders, blocks); err != nil {
			return subject{}, fmt.Errorf("%s: %w", model, err)
		}
	}
	return subject{threadCPU, func(n int) {
		hits := a.ask(prompts[n%len(prompts)])
		at, score := best(hits)
		b.scores += int64(score + hits[at].Blocks) // so that both have to be computed
	}}, nil
}
