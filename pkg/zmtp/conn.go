/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zmtp

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"
)

// TCP keepalive finds a peer whose machine has gone without closing the
// connection within half a minute. A SUB socket sends nothing by itself, so
// without it such a connection looks idle for ever.
const (
	keepAliveIdle     = 15 * time.Second
	keepAliveInterval = 5 * time.Second
	keepAliveCount    = 3
)

// subscribe is the first byte of a message that subscribes to a topic.
const subscribe = 0x01

// Conn is an established connection to one peer.
//
// One goroutine may call Recv while others call Send, SetReadDeadline and Close.
type Conn struct {
	conn net.Conn
	in   *reader
	err  error // what ended Recv for good

	writeMu      sync.Mutex
	writeTimeout time.Duration
	out          []byte // reused, guarded by writeMu
}

// DialSub connects to a PUB or XPUB socket and subscribes to topics, which are
// prefixes of a message's first frame. Without topics it subscribes to all
// messages. Messages that the peer publishes before the subscription has
// reached it are not received.
//
// The context bounds dialling and handshake only; use Close to end a Recv.
func DialSub(ctx context.Context, endpoint string, topics [][]byte, opts Options) (*Conn, error) {
	c, err := dial(ctx, endpoint, subRole(), opts)
	if err != nil {
		return nil, err
	}
	if len(topics) == 0 {
		topics = [][]byte{nil}
	}
	for _, topic := range topics {
		if err := c.Send(append([]byte{subscribe}, topic...)); err != nil {
			return nil, errors.Join(fmt.Errorf("subscribing at %s: %w", endpoint, err), c.Close())
		}
	}
	return c, nil
}

// DialDealer connects to a ROUTER, REP or DEALER socket.
//
// The context bounds dialling and handshake only; use Close to end a Recv.
func DialDealer(ctx context.Context, endpoint string, opts Options) (*Conn, error) {
	return dial(ctx, endpoint, dealerRole(), opts)
}

// dial connects and shakes hands within the handshake timeout.
func dial(ctx context.Context, endpoint string, r role, opts Options) (*Conn, error) {
	opts = opts.withDefaults()
	network, address, err := parseEndpoint(endpoint)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, opts.HandshakeTimeout)
	defer cancel()
	dialer := net.Dialer{KeepAliveConfig: net.KeepAliveConfig{
		Enable: true, Idle: keepAliveIdle, Interval: keepAliveInterval, Count: keepAliveCount,
	}}
	raw, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, fmt.Errorf("dialling %s: %w", endpoint, err)
	}
	c, err := shake(ctx, raw, r, opts)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", endpoint, err)
	}
	return c, nil
}

// shake turns a raw connection into a Conn, or closes it.
func shake(ctx context.Context, raw net.Conn, r role, opts Options) (*Conn, error) {
	c := &Conn{conn: raw, in: newReader(raw, opts), writeTimeout: opts.WriteTimeout}
	// A deadline in the past makes pending reads and writes return at once.
	stop := context.AfterFunc(ctx, func() { _ = raw.SetDeadline(time.Unix(1, 0)) })
	err := c.handshake(r)
	switch {
	case stop():
	case err == nil:
		err = ctx.Err()
	default:
		err = fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	if err == nil {
		return c, nil
	}
	return nil, errors.Join(err, raw.Close())
}

// Recv waits for the next message and returns its frames, at least one. They
// are valid until the next call of Recv.
//
// A read deadline that passes gives an error that wraps [os.ErrDeadlineExceeded]
// and leaves the connection usable: nothing that has arrived is lost, and the
// next Recv continues. Every other error is final: io.EOF when the peer closed
// between two messages, [io.ErrUnexpectedEOF] when within one, [net.ErrClosed]
// after Close, [ErrProtocol] and [ErrLimit] for what the peer should not send.
func (c *Conn) Recv() ([][]byte, error) {
	if c.err != nil {
		return nil, c.err
	}
	if c.in.done {
		c.in.reset()
	}
	for {
		frame, err := c.in.nextFrame()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, err
		}
		if err == nil && frame.command {
			err = c.answer(c.in.command)
		}
		if err != nil {
			c.err = err
			return nil, err
		}
		if !frame.command && !frame.more {
			return c.in.message(), nil
		}
	}
}

// answer deals with a command that came between or within messages. Commands
// that a client has no use for are ignored, as the protocol asks.
func (c *Conn) answer(body []byte) error {
	name, data, err := splitCommand(body)
	if err != nil {
		return err
	}
	switch name {
	case commandPing:
		if len(data) < pingTTLSize || len(data) > pingTTLSize+maxPingContext {
			return fmt.Errorf("%w: heartbeat of %d bytes", ErrProtocol, len(data))
		}
		return c.pong(data[pingTTLSize:])
	case commandError:
		return fmt.Errorf("%w: peer reports %q", ErrProtocol, errorReason(data))
	default:
		return nil
	}
}

// pong answers a heartbeat. That the peer does not take the answer in time is no
// deadline of the caller's, so it must not look like one.
func (c *Conn) pong(pingContext []byte) error {
	c.writeMu.Lock()
	defer c.writeMu.Unlock()
	c.out = appendCommand(c.out[:0], commandPong, pingContext)
	err := c.flush()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("%w: peer does not read the answers to its heartbeats", ErrProtocol)
	}
	return err
}

// Send sends one message of the given frames. An error, including a timeout, may
// leave part of the message with the peer; close the connection then.
func (c *Conn) Send(frames ...[]byte) error {
	if len(frames) == 0 {
		return errors.New("a message has at least one frame")
	}
	c.writeMu.Lock()
	defer c.writeMu.Unlock()
	c.out = c.out[:0]
	for i, body := range frames {
		c.out = appendFrame(c.out, body, i+1 < len(frames))
	}
	return c.flush()
}

// flush writes what is in out; the caller holds writeMu.
func (c *Conn) flush() error {
	if err := c.conn.SetWriteDeadline(time.Now().Add(c.writeTimeout)); err != nil {
		return err
	}
	_, err := c.conn.Write(c.out)
	return err
}

// appendFrame appends a frame of a message in the shorter header that fits.
func appendFrame(dst, body []byte, more bool) []byte {
	var flags byte
	if more {
		flags = flagMore
	}
	if len(body) <= 255 {
		dst = append(dst, flags, byte(len(body)))
	} else {
		dst = append(dst, flags|flagLong)
		dst = binary.BigEndian.AppendUint64(dst, uint64(len(body)))
	}
	return append(dst, body...)
}

// SetReadDeadline bounds the current and later calls of Recv. The zero time
// means no bound.
func (c *Conn) SetReadDeadline(t time.Time) error {
	return c.conn.SetReadDeadline(t)
}

// Close closes the connection and ends a Recv that is waiting. Messages that
// were sent but not yet transmitted may be lost.
func (c *Conn) Close() error {
	return c.conn.Close()
}
