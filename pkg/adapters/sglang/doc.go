/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package sglang wires SGLang engines to LMCache, which runs as a process of its own
// beside the engine: a native sidecar that holds the host tier and is the client of a
// store. Engine and worker meet on a loopback port and in shared memory.
//
// ParseFlags reads a command line as the engine's own parser does. Inject and
// InjectEvents are the injections, as package wiring describes them. SGLang's own
// hierarchical cache is wired by package sglanghicache, which shares the parser.
package sglang
