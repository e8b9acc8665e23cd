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
// # What it never does
//
// It knows no Kubernetes and no wire format, reads no clock and no randomness
// (times are passed in), and never walks all of its keys. All methods of Index
// are safe for concurrent use.
package index
