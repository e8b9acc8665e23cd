/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package engine holds our answers against a real engine while it runs.
//
// A vLLM on the CPU serves a tiny model with random weights, once a plain one and
// once one with sliding windows. Its events go through a real subscriber process
// to a real standalone API server. Random conversations share system prompts,
// branch, carry salts and are more than the small cache can hold; between them
// caches are reset, and subscriber, server and engine killed with SIGKILL and
// started again. Before every request that counts, LookupRoute is asked how much
// of the prompt the engine will reuse, and has to say exactly what the engine says
// afterwards. Only an answer that calls itself inexact may be lower; none may be
// higher.
//
// An answer can only be right once the index has heard everything. Nothing in an
// engine's protocol says "that was all", and an answer to a request can overtake
// the events of it. Therefore a request without a past, a fence, follows
// whatever was done: one block that nobody has seen before. An engine publishes
// in order, and what a fence does to the cache fits into one message; so when that
// message has been seen, nothing of what was done before is still to come. The
// test then waits until the subscriber has taken that message, the server is
// live with a session of the running processes, and has acknowledged everything.
//
// The tests have the build tag e2e and are run by `make e2e-engine`, which
// installs the engine. Everything listens on loopback. A run that fails leaves
// what the engine published and was asked, in the form of test/captures.
package engine
