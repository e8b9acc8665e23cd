/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package vllm wires vLLM engines to their cache: LMCache as a connector inside the
// engine, in front of host memory and, if there is one, a store.
//
// ParseFlags reads a command line as the engine's own parser does, in every
// spelling that parser takes. Inject and InjectEvents are the injections, as
// package wiring describes them; KernelCheck is the init container that tries
// LMCache's native library before the engine starts.
//
// What a user has set is never replaced by another connector: an engine that has a
// cache of its own stays as it is. A connector of the same name and role is the
// same wiring, and is only completed.
package vllm
