/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package index is the live index: which engine rank holds which block of which
// prompt prefix, in which tier.
//
// # What it promises
//
// The index is a set. A block is the 64-bit chained content hash of a prompt up
// to and including that block; a holder either has it in a KV cache group and a
// tier or does not. Copies of one block inside an engine are counted where the
// engine's events are read, never here.
//
// A lookup answers with the number of tokens that an engine will reuse. For an
// engine with one full-attention group that is the longest unbroken prefix. An
// engine with several groups reuses n blocks only when every full group holds
// the first n, every window group the last few before n, and every checkpoint
// group the one that ends at n. A block behind a hole is kept and counts again
// as soon as the hole is filled, and a block whose ancestors were never seen can
// never be reached, because a lookup starts at the first block of the prompt.
//
// # Sessions
//
// A holder speaks through a session (holder, epoch, sequence). Changes carry
// consecutive sequence numbers; one that was seen is ignored, one that skips asks
// for a snapshot. A snapshot is built beside the state it replaces and becomes
// visible in one step. When a stream is lost, its holder is suspect for a lease
// and is then dropped whole. A newer stream or a newer epoch of the same holder
// supersedes the older one.
//
// # Structure
//
// A directory has the blocks of one model, adapter and block size. Consecutive
// blocks of a chain are a run; a run is never split, another continuation of one
// of its blocks is a run whose parent is that block, and a block stays while
// anything continues it. So the known blocks of a prompt are a prefix of it, and a
// lookup bisects for the deepest one, climbs from run to run to the start, and
// reads who holds each run: intervals of blocks by unit (a holder's group), not
// single blocks. Its cost is a logarithm of the prompt's length plus the holders.
// Groups that may skip blocks make it look at every position instead.
//
// Hashes, runs and intervals lie in pools without pointers; the table that finds
// a hash has 8 bytes a block and grows by splitting small segments. A holder
// vanishes by being made invisible; its memory is swept later, a little with
// every change.
//
// # What it never does
//
// It knows no Kubernetes and no wire format, reads no clock and no randomness
// (times are passed in), and never walks all of its keys. All methods of Index
// are safe for concurrent use.
package index
