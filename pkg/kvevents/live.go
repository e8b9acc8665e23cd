/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kvevents

import (
	"context"
	"errors"
	"net"
	"time"

	"inferencecache.io/inference-cache/pkg/zmtp"
)

// Subscription is a connection to the live events of one engine rank. Next and
// SetReadDeadline belong to one goroutine; Close may be called from any.
type Subscription struct {
	ended func() error // why the context ended, nil while it has not
	conn  *zmtp.Conn
	stop  func() bool
}

// Subscribe connects to the PUB socket of an engine rank. An empty topic selects
// all messages, any other those whose topic begins with it.
//
// What the engine published before the subscription reached it is lost to the
// live stream, and nothing tells how much that was; see [Replay]. The
// subscription ends with ctx. It does not reconnect.
func Subscribe(ctx context.Context, endpoint, topic string, opts zmtp.Options) (*Subscription, error) {
	conn, err := zmtp.DialSub(ctx, endpoint, [][]byte{[]byte(topic)}, opts)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	return &Subscription{ended: ctx.Err, conn: conn, stop: stop}, nil
}

// Next waits for the next message. It refers to a buffer that the next call of
// Next reuses.
//
// An error that wraps [ErrMessage] concerns one message, and one that wraps
// [os.ErrDeadlineExceeded] says that the read deadline has passed; after both,
// Next may be called again. All others are final.
func (s *Subscription) Next() (Message, error) {
	frames, err := s.conn.Recv()
	if err != nil {
		if ended := s.ended(); ended != nil && errors.Is(err, net.ErrClosed) {
			return Message{}, ended
		}
		return Message{}, err
	}
	return ParseMessage(frames)
}

// SetReadDeadline bounds the current and later calls of Next; the zero time
// means no bound. Use it to notice that a stream has gone quiet: messages lost at
// its end leave no gap by which the loss could be seen.
func (s *Subscription) SetReadDeadline(t time.Time) error {
	return s.conn.SetReadDeadline(t)
}

// Close ends the subscription and a Next that is waiting.
func (s *Subscription) Close() error {
	s.stop()
	return s.conn.Close()
}
