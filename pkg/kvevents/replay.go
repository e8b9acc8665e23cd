/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kvevents

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"

	"inferencecache.io/inference-cache/pkg/zmtp"
)

// Defaults of [ReplayOptions].
const (
	// DefaultReplayIdle is how long a silent replay is waited for. Engines look
	// for replay requests between their publications, at least every 100 ms.
	DefaultReplayIdle = 2 * time.Second
	// DefaultReplayTotal bounds a whole replay.
	DefaultReplayTotal = 2 * time.Minute
	// DefaultReplayMessages is ten times the number of messages that engines
	// keep unless told otherwise.
	DefaultReplayMessages = 100_000
	// DefaultReplayBytes bounds the memory for messages not yet delivered.
	DefaultReplayBytes = 64 << 20
)

// ReplayOptions bound a replay. The zero value of a field selects its default.
type ReplayOptions struct {
	// Idle is the longest pause between two messages; the end marker can get
	// lost like any message, so silence has to end a replay too.
	Idle time.Duration
	// Total is the longest time for the whole replay.
	Total time.Duration
	// MaxMessages and MaxBytes end a replay early; the result says where to go
	// on. One message is taken whatever its size.
	MaxMessages, MaxBytes int
	// Conn holds the limits of the connection.
	Conn zmtp.Options
}

// ReplayResult says what a replay brought. The delivered messages are those with
// the sequences First to Next−1, without a gap.
type ReplayResult struct {
	// First is the sequence of the first message delivered. If it is above the
	// start that was asked for, the engine no longer has what lies between, or
	// its socket dropped it; a second replay tells which.
	First uint64
	// Next is the sequence after the last message delivered: where a next
	// replay has to start. Without any message it is the start asked for.
	Next uint64
	// Delivered is the number of messages given to the callback.
	Delivered int
	// Ended is true if the engine said that there is nothing more. If it is
	// false, the replay was cut off by silence or by a limit.
	Ended bool
	// Hole is true if messages after Next were received while Next itself was
	// not. Those behind the hole were not delivered; Discarded is their number.
	Hole      bool
	Discarded int
}

func (o ReplayOptions) withDefaults() ReplayOptions {
	if o.Idle <= 0 {
		o.Idle = DefaultReplayIdle
	}
	if o.Total <= 0 {
		o.Total = DefaultReplayTotal
	}
	if o.MaxMessages <= 0 {
		o.MaxMessages = DefaultReplayMessages
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultReplayBytes
	}
	return o
}

// Replay asks the ROUTER socket of an engine rank for its messages from the
// sequence start on and hands them to fn in order.
//
// An engine's socket drops what its reader does not take in time, in the middle
// of a replay as well. Therefore everything is read into memory first, fn is
// called only after that, and only for messages without a gap; after a Hole, ask
// again from Next. A result with Ended and nothing delivered can mean that there
// is nothing new or that the engine has started anew and is behind start: only
// the sequence of a live message tells.
//
// Messages are filtered by no topic. They stay valid after fn returns. Errors of
// fn end the delivery and are returned as they are. If connecting, reading or
// parsing fails, what came before is delivered and the error is returned with it.
func Replay(ctx context.Context, endpoint string, start uint64, opts ReplayOptions, fn func(Message) error) (ReplayResult, error) {
	opts = opts.withDefaults()
	drained := drain{run: ReplayResult{First: start, Next: start}}
	readErr := drained.read(ctx, endpoint, start, opts)
	result := drained.run
	result.Delivered, result.Next = 0, result.First
	for _, message := range drained.messages {
		if err := ctx.Err(); err != nil {
			return result, err
		}
		if err := fn(message); err != nil {
			return result, err
		}
		result.Delivered++
		result.Next++
	}
	return result, readErr
}

// drain collects a replay.
type drain struct {
	messages []Message
	run      ReplayResult
	size     int
}

// read runs one request against the engine.
func (d *drain) read(ctx context.Context, endpoint string, start uint64, opts ReplayOptions) error {
	deadline := time.Now().Add(opts.Total)
	conn, err := zmtp.DialDealer(ctx, endpoint, opts.Conn)
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer func() {
		stop()
		_ = conn.Close() // nothing was written that could be lost
	}()
	// The empty frame is what a REQ socket would put before its request.
	if err := conn.Send(nil, binary.BigEndian.AppendUint64(nil, start)); err != nil {
		return fmt.Errorf("requesting replay from %s: %w", endpoint, err)
	}
	for !d.full(opts) {
		err := d.readOne(conn, earlier(time.Now().Add(opts.Idle), deadline))
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil
		case err != nil:
			return fmt.Errorf("replay from %s: %w", endpoint, err)
		case d.run.Ended:
			return nil
		}
	}
	return nil
}

// full reports whether a limit has been reached.
func (d *drain) full(opts ReplayOptions) bool {
	return len(d.messages) >= opts.MaxMessages || d.size >= opts.MaxBytes ||
		d.run.Discarded >= opts.MaxMessages
}

func (d *drain) readOne(conn *zmtp.Conn, deadline time.Time) error {
	if err := conn.SetReadDeadline(deadline); err != nil {
		return err
	}
	frames, err := conn.Recv()
	if err != nil {
		return err
	}
	message, end, err := parseReply(frames)
	if err != nil {
		return err
	}
	if end {
		d.run.Ended = true
		return nil
	}
	d.add(message)
	return nil
}

// add keeps a message that continues the run. What lies behind a hole is only
// counted, because it is asked for again; what was asked for already, or lies
// before the start, is a repetition.
func (d *drain) add(message Message) {
	if len(d.messages) == 0 {
		if message.Sequence < d.run.Next {
			d.run.Discarded++
			return
		}
		d.run.First, d.run.Next = message.Sequence, message.Sequence
	}
	if message.Sequence != d.run.Next {
		d.run.Hole = d.run.Hole || message.Sequence > d.run.Next
		d.run.Discarded++
		return
	}
	copied := make([]byte, 0, len(message.Topic)+len(message.Payload))
	copied = append(copied, message.Topic...)
	copied = append(copied, message.Payload...)
	message.Topic = copied[:len(message.Topic):len(message.Topic)]
	message.Payload = copied[len(message.Topic):]
	d.messages = append(d.messages, message)
	d.size += len(copied)
	d.run.Next++
}

// earlier returns the earlier of two times.
func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
