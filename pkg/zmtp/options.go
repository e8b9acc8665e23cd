/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zmtp

import "time"

// Defaults of [Options]. A batch of engine events is some kilobytes; the limits
// leave room for the largest step an engine can make and still keep a hostile
// peer from taking the memory of a Pod.
const (
	// DefaultMaxFrameSize is the size in bytes of the largest frame taken.
	DefaultMaxFrameSize = 32 << 20
	// DefaultMaxMessageSize is the size in bytes of the largest message taken,
	// all frames together.
	DefaultMaxMessageSize = 32 << 20
	// DefaultMaxFrames is the number of frames of the longest message taken.
	DefaultMaxFrames = 16
	// DefaultHandshakeTimeout bounds dialling and the exchange of greetings.
	DefaultHandshakeTimeout = 10 * time.Second
	// DefaultWriteTimeout bounds each write, so that a peer that stops reading
	// cannot block a sender, or a reader that answers heartbeats, for ever.
	DefaultWriteTimeout = 10 * time.Second
)

// Options are the limits of a connection. The zero value of a field selects its
// default.
type Options struct {
	// MaxFrameSize is in bytes; see [DefaultMaxFrameSize].
	MaxFrameSize int
	// MaxMessageSize is in bytes; see [DefaultMaxMessageSize].
	MaxMessageSize int
	// MaxFrames is a number of frames; see [DefaultMaxFrames].
	MaxFrames int
	// HandshakeTimeout is counted from the call of a Dial function.
	HandshakeTimeout time.Duration
	// WriteTimeout is counted for each message sent.
	WriteTimeout time.Duration
}

// withDefaults fills in what is not set.
func (o Options) withDefaults() Options {
	if o.MaxFrameSize <= 0 {
		o.MaxFrameSize = DefaultMaxFrameSize
	}
	if o.MaxMessageSize <= 0 {
		o.MaxMessageSize = DefaultMaxMessageSize
	}
	if o.MaxFrames <= 0 {
		o.MaxFrames = DefaultMaxFrames
	}
	if o.HandshakeTimeout <= 0 {
		o.HandshakeTimeout = DefaultHandshakeTimeout
	}
	if o.WriteTimeout <= 0 {
		o.WriteTimeout = DefaultWriteTimeout
	}
	return o
}
