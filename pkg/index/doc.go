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
// tier or does not. How many copies an engine has is for its subscriber to know.
//
// A lookup answers with the number of tokens that an engine will reuse. For an
// engine with one full-attention group that is the longest unbroken prefix. An
// engine with several groups reuses n blocks only when every full group holds
// the first n, every window group the last few before n, and every checkpoint
// group the one that ends at n. A block behind a hole is kept and counts again
// as soon as the hole is filled. A block whose ancestors were never seen counts for
// window and checkpoint groups only, until they are.
//
// # Sessions
//
// A holder speaks through a session (holder, epoch, sequence). Changes carry
// consecutive sequence numbers; one that was seen is ignored, one that skips asks
// for a snapshot. A snapshot is built beside the state it replaces and becomes
// visible in one step. When a stream is lost, its holder is suspect for a lease
// and is then dropped whole. A newer stream or a newer epoch of the same holder
// supersedes the older one. A holder of Options.HiddenTenant is found by lookups and
// shows nowhere else; it goes with its stream.
//
// # Structure
//
// A directory has the blocks of one model, adapter and block size. Consecutive
// blocks of a chain are a run; a run is never split, another continuation of one
// of its blocks is a run whose parent is that block, and a block stays while
// anything continues it. So the known blocks of a prompt are a prefix of it, and a
// lookup bisects for the deepest one, climbs from run to run to the start, and
// reads who holds each run: intervals of blocks by unit (a holder's group), not
// single blocks. Its cost is a logarithm of the prompt's length plus the intervals
// of the runs on its way. It looks at every position only where a directory has
// groups that may skip blocks and also chains whose start is unknown, or where
// somebody told a false position of one of the prompt's blocks.
//
// Hashes, runs and intervals lie in pools without pointers; the table that finds
// a hash has 8 bytes a slot and grows by splitting small segments. A holder
// vanishes by being made invisible; its memory is swept later, a little with
// every change.
//
// # Concurrency
//
// All methods of Index and Session are safe for concurrent use. What changes the
// index takes one mutex, and so does what looks at more than a prompt (listings,
// views, ChainsTo). Lookup, Serving, BlockSizes, Complete, Version and the methods
// of Session take none. A lookup reads beside the writer: runs, table segments,
// directories and the index have versions that are odd while they change, and a
// lookup that finds one odd or changed looks again. After a bounded number of
// attempts it takes the mutex. So what it says of one hash scheme was so at one
// moment. A cleared holder, a dropped one and a snapshot change in one step; of the
// blocks of a delta a lookup may see some before others. Pools keep their memory,
// and readers and the writer share words only atomically.
//
// # Order of use and forgetting
//
// Lookups and stores note in a run that they used it, and change no list. A
// tenant's runs take turns, those that were used longest ago (LRU) or least often
// (LFU) first; one that was used since its last turn is passed over. What exceeds
// Options.Memory, a tenant's MaxBlocks or its TTL leaves from the ends of the runs
// whose turn it is: with each change as many blocks as it brought and a bounded
// number more, and a bounded number with each call of Expire.
// What continues a block goes before it, so what is left is always a prefix. A
// holder of something forgotten is Degraded, its hits are bounds, and it is in
// every answer of its model until it clears its cache, restarts or sends a snapshot
// that fits.
//
// # Limits
//
// Options.Memory counts runs, hashes, intervals and tables, which grow with blocks;
// sessions and the deadlines of inferred blocks are beside it. What one holder may
// declare is bounded, and so is the length of a chain; a change that exceeds
// either is refused as a whole. There is room for 2^28 runs in an index and for
// 2^25 units in a directory.
//
// # What it never does
//
// It knows no Kubernetes and no wire format, reads no clock and no randomness
// (times are passed in), stores nothing, and never walks all of its keys.
//
// docs/concepts/index.md explains all of this with pictures.
package index
