/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package wire is the publishing side of an engine's KV-event sockets: a PUB
// socket for live messages and a ROUTER socket that repeats those which a
// subscriber missed.
//
// [Publisher] serves both with what engines put on them, frame by frame, in
// either generation of the replay form. It knows nothing of what a payload says,
// so a simulated engine and a recording of a real one publish through the same
// code. Tests can withhold a message from either side to stage a loss.
//
// The sockets bind loopback addresses only. A PUB socket discards what it is
// given before a peer has subscribed, as real engines' sockets do; the replay
// socket is how a subscriber gets what came before it.
package wire
