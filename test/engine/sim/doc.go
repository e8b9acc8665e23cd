/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package sim is an inference engine without the inference: it manages a KV
// cache as vLLM or SGLang does, says about it on real sockets what they would
// say, and knows for every request how many prompt tokens it reused.
//
// The vLLM side is a pool of blocks with reference counts and a free list in
// order of last use. It keeps a block per group and position, several copies of
// a block where vLLM would have them, and, for groups with a sliding window,
// only the blocks that a later prompt can reuse. The SGLang side is a radix tree
// of pages with eviction of whole leaves and, optionally, a host tier that is
// written through.
//
// Both are held against recordings of the real engines in the tests: fed with
// the recorded requests they reuse what the engine reused. That is what makes
// [Response.CachedTokens] a fair judge of a prediction.
//
// An [Engine] computes nothing; output tokens are random. Requests run one after
// the other, so everything is a function of the configuration, its seed and the
// order of requests. Faults that real engines show are methods: a restart, lost
// messages, a reset of the cache.
package sim
