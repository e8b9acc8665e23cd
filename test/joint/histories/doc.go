/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package histories plays random histories through everything that lies between
// an engine's cache and an answer: the subscriber's source, journal, mirror and
// sessions, the index server's streams, the index, and routing.
//
// Only two things are not the real ones. The engine is a model that knows what
// it holds and what it would reuse of a prompt. The sockets are queues in memory
// that lose, repeat, reorder, delay and break as sockets and machines do. Time is
// that of testing/synctest, so hours of leases and pauses take no time.
//
// A history mixes the life of two engines with restarts of engines, subscribers
// and index replicas. At every step no answer may promise more than the engine
// had at some moment since the last message that is known to be applied: what
// was cleared before never hits again. An engine that has been cut off for longer
// than the subscriber's grace is not shown as one that is alive. When everything is up and faults have
// ended, every replica of the index must answer what the engines would reuse and
// count what they hold.
//
// A history follows from its seed, except for the order of goroutines and the
// jitter of pauses, which are the programs' own.
package histories
