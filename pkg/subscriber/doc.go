/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package subscriber is the sidecar of an inference engine: it follows the
// engine's cache events and tells every replica of the index what the engine
// holds.
//
// The way of an event through it:
//
//	engine's sockets ──▶ source ──▶ report.Journal (with its mirror) ──▶ report.Fanout ──▶ index
//	engine's /metrics ──▶ scrape ──────────▲
//
// Package source makes sure that no event is missing unnoticed; package mirror
// turns events into what is resident; package report numbers the changes and keeps
// one session per index replica; package scrape adds the engine's load. Each rank
// of a data-parallel engine has a source and a journal of its own.
//
// Nothing of a prompt leaves the Pod: what is reported are hashes.
package subscriber
