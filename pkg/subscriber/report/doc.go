/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package report tells the index what an engine holds: every replica of it, all
// the time, in the order of a numbered journal.
//
// A [Journal] belongs to one engine rank. It owns the rank's mirror, turns what
// changed into numbered deltas and keeps the newest of them, within bounds, for
// sessions that have to resume. Everything older can be had as a snapshot of the
// mirror, which names the delta that it includes. Sequences start at 1 in every
// epoch; a new epoch begins when the engine, or the knowledge about it, starts
// anew.
//
// A [Fanout] resolves the name of the index and keeps, for each address and each
// journal, a session going: hello, then what the reply asks for (a snapshot or the
// deltas from some number on), then deltas as they come, statistics and
// heartbeats. A session speaks for an engine, so there is none before the engine's
// events have been connected to, and none after they have been out of reach for
// [Grace]; the index then drops what it was told with the session's lease. Sessions are independent: one that is slow or down takes nothing
// from the others and holds no memory beyond the journal's. Only snapshots wait for
// each other. Each starts after a random time that grows with its size, so that the
// engines of a fleet do not all send theirs to a replica at once; two are sent at a
// time, message by message; and one that is not taken ends its session.
//
// Nothing is lost by a broken connection, because the state is in the mirror and
// not in a queue; nothing waits for the index, because a journal never blocks.
package report
