/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package player puts the recording of a real engine on real sockets: the PUB
// socket sends the recorded messages, the replay socket repeats those that have
// been sent, in the form in which that engine repeats.
//
// A [Player] keeps no time. Its owner advances it to the next request of the
// recording, waits until a reader has taken what was sent, compares, and goes
// on. Messages are the recorded bytes; only the first message of SGLang, which
// the engine publishes before a recorder can have subscribed, is made anew, so
// that a replay from the start has no hole where the engine has none.
package player
