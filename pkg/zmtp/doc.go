/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package zmtp is a small ZeroMQ client: it dials one PUB or ROUTER socket over
// tcp or ipc and exchanges messages with it in ZMTP 3, the protocol of ZeroMQ 4.
//
// It exists because a subscriber to engine events has to survive whatever is at
// the other end of a port. Every length that a peer announces is checked against
// a limit before it is believed, memory grows only as bytes arrive, heartbeats
// are answered, a deadline leaves the connection usable, and an error says what
// the peer did.
//
// One [Conn] is one TCP or Unix connection. It does not reconnect: a caller that
// loses events in a reconnect has to know about it, so redialling is the
// caller's business. Only the NULL security mechanism is offered, as engines
// offer no other; do not use it across a network that is not trusted.
//
// Of the protocol only what a SUB or a DEALER socket needs is here: no
// listening, no other socket types, no queues. A slow reader is slowed down by
// the transport's own flow control.
package zmtp
