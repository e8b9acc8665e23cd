/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

// Engine selects the rules by which an engine's events are read.
type Engine uint8

// The engines.
const (
	// VLLM announces every copy of a block by itself.
	VLLM Engine = iota + 1
	// SGLang keeps one copy of a block; a second announcement of the same hash
	// belongs to another namespace that has equal tokens.
	SGLang
)

// RemovalRule says what one BlockRemoved of a hash means.
type RemovalRule uint8

// The removal rules.
const (
	// Auto starts as PerCopy and turns to LastCopy when copies add up to more
	// than the engine has blocks.
	Auto RemovalRule = iota
	// PerCopy: one copy is gone.
	PerCopy
	// LastCopy: the last copy is gone.
	LastCopy
)

// Limits bound the memory of a Mirror. A field that is 0 takes its default.
type Limits struct {
	// Blocks is the largest number of engine hashes known at a time, resident or
	// not; stores beyond it are refused and counted. Default 4 Mi, about 160 MiB; 8
	// Mi at most.
	Blocks int
	// Ghosts is how many hashes of evicted blocks are remembered as parents of
	// blocks to come. Default 256 Ki.
	Ghosts int
	// Unplaced is how many hashes of unknown position are kept waiting for their
	// parent. Default 64 Ki.
	Unplaced int
	// Scopes is the largest number of scopes; it grows with the adapters that an
	// engine serves. Default 4096, which is also the most.
	Scopes int
}

// Options configure a Mirror.
type Options struct {
	// Engine defaults to VLLM.
	Engine Engine
	// Removals is the meaning of a removal that does not say how many copies
	// remain.
	Removals RemovalRule
	// KeepRemoved reports what leaves T1 as inferred in T2, for engines with a
	// second tier that nobody announces. It is without effect from the first
	// event on in which the engine names a tier other than its own memory.
	KeepRemoved bool
	// AdaptersLoadedOnce: whoever runs the engine knows that it never loads a LoRA
	// adapter again that it has unloaded. Blocks of adapters are reported as
	// announced then, also for engines whose events do not tell.
	AdaptersLoadedOnce bool
	// Seed decides how blocks are spread in memory, and nothing that can be seen.
	// Whoever chooses prompts should not know it.
	Seed uint64
	// Limits bound the memory.
	Limits Limits
}

// Defaults of Limits.
const (
	defaultBlocks   = 4 << 20
	defaultGhosts   = 256 << 10
	defaultUnplaced = 64 << 10
	defaultScopes   = maxScopes
)

// complete fills in what was left out.
func (o Options) complete() Options {
	if o.Engine == 0 {
		o.Engine = VLLM
	}
	for _, limit := range []struct {
		value *int
		def   int
	}{
		{&o.Limits.Blocks, defaultBlocks},
		{&o.Limits.Ghosts, defaultGhosts},
		{&o.Limits.Unplaced, defaultUnplaced},
		{&o.Limits.Scopes, defaultScopes},
	} {
		if *limit.value <= 0 {
			*limit.value = limit.def
		}
	}
	o.Limits.Blocks = min(o.Limits.Blocks, maxBlocks)
	o.Limits.Scopes = min(o.Limits.Scopes, maxScopes)
	return o
}
