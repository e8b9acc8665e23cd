/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package mirror keeps, for one rank of an engine, what the engine holds in its
// KV cache, and says it in the terms of the index.
//
// An engine speaks of blocks by hashes that mean nothing outside its process, in
// events that can only be understood with everything that came before. The
// mirror remembers enough of that to answer, after any number of batches, what
// changed: which content (a prefix hash of package fingerprint) is resident in
// which KV-cache group and tier, and how certain that is. The changes of all
// batches together, and the snapshot at any time, describe the same state.
//
// What it knows about engines:
//
//   - A block can be resident several times. Copies are counted per group and
//     tier; the content is there until the last one is gone.
//   - A window group lists only the blocks it really keeps. Their positions come
//     from other events that name the same hashes, or that continue them with the
//     same tokens. Where none does, every block that an announcement may mean is
//     reported as possible, never as announced.
//   - A salt or an adapter is said on the first block of a chain only; later
//     blocks inherit it through their parent. A block whose parent is unknown is
//     parked until the parent appears.
//   - The parent may have been evicted long ago: mappings outlive residency, in a
//     bounded number.
//   - Some engines separate contents by something they do not announce. One
//     content under two hashes is the sign. While both are resident the content
//     is, too; when one of them goes, nobody can tell whose it was, and what
//     stays becomes merely possible.
//   - SGLang forgets the blocks of an adapter that is unloaded and loaded again,
//     and says nothing. Its adapters' blocks are possible, never announced, unless
//     the options promise that adapters are loaded once.
//
// A Mirror does no I/O, reads no clock and uses no randomness: equal batches in
// equal order give equal changes. Everything an engine can send is legal input;
// memory is bounded by [Limits]. It is not safe for concurrent use.
package mirror
