/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package source

import (
	"context"
	"time"

	"inferencecache.io/inference-cache/pkg/kvevents"
)

// Engine is the two sockets of an engine rank.
type Engine interface {
	// Subscribe connects to the live messages.
	Subscribe(ctx context.Context) (Stream, error)
	// Replayable reports whether old messages can be asked for at all.
	Replayable() bool
	// Replay asks for the messages from a sequence on; see [kvevents.Replay].
	Replay(ctx context.Context, start uint64, fn func(kvevents.Message) error) (kvevents.ReplayResult, error)
}

// Stream is a live subscription; *[kvevents.Subscription] is one.
type Stream interface {
	Next() (kvevents.Message, error)
	SetReadDeadline(time.Time) error
	Close() error
}

// Sockets is an engine that is reached over ZeroMQ.
type Sockets struct {
	// Endpoint is the PUB socket and ReplayEndpoint the ROUTER socket; the latter
	// may be empty. Both as "tcp://host:port" or "ipc://path".
	Endpoint, ReplayEndpoint string
	// Topic selects messages whose topic begins with it.
	Topic string
	// ReplayOptions bound replays.
	ReplayOptions kvevents.ReplayOptions
}

var _ Engine = (*Sockets)(nil)

// Subscribe implements Engine.
func (s *Sockets) Subscribe(ctx context.Context) (Stream, error) {
	return kvevents.Subscribe(ctx, s.Endpoint, s.Topic, s.ReplayOptions.Conn)
}

// Replayable implements Engine.
func (s *Sockets) Replayable() bool { return s.ReplayEndpoint != "" }

// Replay implements Engine.
func (s *Sockets) Replay(ctx context.Context, start uint64, fn func(kvevents.Message) error) (kvevents.ReplayResult, error) {
	return kvevents.Replay(ctx, s.ReplayEndpoint, start, s.ReplayOptions, fn)
}

// Sink takes what a source brings. Calls come from one goroutine.
type Sink interface {
	// Absorb takes the next batch. It is valid during the call only.
	Absorb(batch *kvevents.Batch)
	// Restart says that nothing earlier counts. Degraded is why the state from
	// here on is less than what the engine holds; empty when it is not.
	Restart(degraded string)
	// Degrade says why the state is less than what the engine holds.
	Degrade(reason string)
	// Connected says that the live stream is connected, and that what was published
	// before has been taken as far as it can be had. Disconnected says that the
	// stream has ended or that an attempt to connect has failed.
	Connected()
	Disconnected()
}
