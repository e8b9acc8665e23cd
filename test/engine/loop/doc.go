/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package loop holds tests that close the loop around simulated engines: their
// events go through real sockets, the subscriber and the index server, and every
// answer is compared with what the engine then reuses.
//
// The recordings prove the same for what was recorded. The simulator adds loads,
// cache sizes, generations of the wire and faults that nobody has recorded: lost
// messages, restarts and resets in the middle of a load.
package loop
