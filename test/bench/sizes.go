/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import "time"

// sizes say how much is measured.
type sizes struct {
	// entries is the number of them that an index holds beside what is asked
	// for: blocks, each counted once per holder.
	entries int
	// baseline is the same for the indexes beside ours. A nested map of 10 million
	// entries takes 5 GiB; fewer entries are in its favour.
	baseline int
	// holders is the number of replicas in lookups.
	holders int
	// runs is how often a figure is measured; the median counts.
	runs int
	// shortest is the least CPU time of a run.
	shortest time.Duration
	// prompts is how many prompts lookups cycle through.
	prompts int
	// contentionRuns and contentionLookups are the same for lookups beside a
	// writer, and how many lookups make one run.
	contentionRuns, contentionLookups int
	// rounds is the number of calls of each kind over the network.
	rounds int
	// ingestGroups is the number of groups of chains that an engine goes through.
	ingestGroups int
}

// Chains of the workload, in blocks of blockSize tokens.
const (
	blockSize = 16
	// longChain grows step blocks at a time, as a conversation does.
	longChain = 512
	step      = 16
	// askedChain is the length of the prompt in most lookups.
	askedChain = 1024
)

func fullSizes() sizes {
	return sizes{
		entries: 10_000_000, baseline: 1_000_000, holders: 64, runs: 7, shortest: 20 * time.Millisecond, prompts: 64,
		contentionRuns: 9, contentionLookups: 20_000, rounds: 4_000, ingestGroups: 4,
	}
}

// smokeSizes touch everything and measure nothing.
func smokeSizes() sizes {
	return sizes{
		entries: 65_536, baseline: 8_192, holders: 64, runs: 1, shortest: time.Millisecond, prompts: 2,
		contentionRuns: 1, contentionLookups: 200, rounds: 20, ingestGroups: 3,
	}
}
