/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package kvevents reads what inference engines say about their KV caches: the
// frames of their ZeroMQ publishers, the events inside, and the replay of events
// that were missed.
//
// Two engines speak almost the same language, in several generations. vLLM and
// SGLang send batches of msgpack events, first as arrays whose items have fixed
// positions, later as maps with a type tag; block hashes are integers of either
// sign or digests; fields were added over time and are left out when they have
// their default. [Decoder] reads all generations into one [Event] type and
// tolerates what a later generation may add: fields, items and event types that
// it does not know. An event that cannot be read is counted and skipped, and the
// others of its batch are kept.
//
// The package reports what was said. It does not interpret: how many copies of a
// block exist, which group a block belongs to, what an unknown parent means is
// the caller's business.
//
// Everything read here comes from another process and is taken as hostile until
// parsed: counts are checked against the bytes that remain before anything is
// allocated, and sizes are bounded.
package kvevents
