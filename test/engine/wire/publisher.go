/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package wire

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
)

// DefaultBufferSteps is how many messages engines keep for replay unless told
// otherwise.
const DefaultBufferSteps = 10000

// pollInterval is how often WaitSubscribed looks; the socket library offers no
// notice of a subscription.
const pollInterval = 5 * time.Millisecond

// Config says where a [Publisher] listens and how it replays.
type Config struct {
	// EventsAddress and ReplayAddress are host:port to bind; an empty one or
	// port 0 takes a free loopback port.
	EventsAddress, ReplayAddress string
	// Form is the replay form.
	Form ReplayForm
	// BufferSteps is the number of messages kept for replay; 0 means
	// [DefaultBufferSteps].
	BufferSteps int
}

// Publisher owns the two sockets of one engine rank. Its methods may be called
// from several goroutines.
type Publisher struct {
	form        ReplayForm
	bufferSteps int
	pub, router zmq4.Socket
	served      chan struct{}

	mu      sync.Mutex
	history []Message
	replays int
}

// NewPublisher binds both sockets and answers replays until [Publisher.Close].
func NewPublisher(cfg Config) (*Publisher, error) {
	if cfg.BufferSteps == 0 {
		cfg.BufferSteps = DefaultBufferSteps
	}
	// The library logs every peer that leaves in the middle of a handshake.
	quiet := zmq4.WithLogger(log.New(io.Discard, "", 0))
	p := &Publisher{
		form:        cfg.Form,
		bufferSteps: cfg.BufferSteps,
		pub:         zmq4.NewPub(context.Background(), quiet),
		router:      zmq4.NewRouter(context.Background(), quiet),
		served:      make(chan struct{}),
	}
	if err := p.listen(cfg); err != nil {
		return nil, errors.Join(err, p.pub.Close(), p.router.Close())
	}
	go p.serveReplays()
	return p, nil
}

func (p *Publisher) listen(cfg Config) error {
	if err := p.pub.Listen(endpoint(cfg.EventsAddress)); err != nil {
		return fmt.Errorf("bind event socket: %w", err)
	}
	if err := p.router.Listen(endpoint(cfg.ReplayAddress)); err != nil {
		return fmt.Errorf("bind replay socket: %w", err)
	}
	return nil
}

func endpoint(address string) string {
	if address == "" {
		address = "127.0.0.1:0"
	}
	return "tcp://" + address
}

// EventsAddr is the bound address of the PUB socket.
func (p *Publisher) EventsAddr() net.Addr { return p.pub.Addr() }

// ReplayAddr is the bound address of the ROUTER socket.
func (p *Publisher) ReplayAddr() net.Addr { return p.router.Addr() }

// Publish sends a message and keeps it for replay.
func (p *Publisher) Publish(m Message) error {
	p.Keep(m)
	return p.Send(m)
}

// Send sends a message that no replay will repeat.
func (p *Publisher) Send(m Message) error {
	if err := p.pub.SendMulti(zmq4.NewMsgFrom(m.Frames()...)); err != nil {
		return fmt.Errorf("publish message %d: %w", m.Sequence, err)
	}
	return nil
}

// Keep records a message for replay without sending it, as if the live copy had
// been lost.
func (p *Publisher) Keep(m Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.history = append(p.history, m)
	if over := len(p.history) - p.bufferSteps; over > 0 {
		p.history = append(p.history[:0], p.history[over:]...)
	}
}

// Replays counts the replay requests answered so far.
func (p *Publisher) Replays() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.replays
}

// WaitSubscribed returns when a peer has subscribed to anything, or with the
// error of ctx. Messages sent before that moment reach nobody.
func (p *Publisher) WaitSubscribed(ctx context.Context) error {
	topics, ok := p.pub.(zmq4.Topics)
	if !ok {
		return errors.New("event socket does not list its subscriptions")
	}
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for len(topics.Topics()) == 0 {
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for a subscriber: %w", ctx.Err())
		case <-ticker.C:
		}
	}
	return nil
}

// Close closes both sockets and ends the replay loop. Messages that are still
// queued are lost, as they are when an engine dies.
func (p *Publisher) Close() error {
	var failed []error
	for _, socket := range []zmq4.Socket{p.pub, p.router} {
		// A connection that its peer has closed already is reported too.
		if err := socket.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			failed = append(failed, err)
		}
	}
	<-p.served
	return errors.Join(failed...)
}

// serveReplays answers requests one after the other, as engines do.
func (p *Publisher) serveReplays() {
	defer close(p.served)
	for {
		request, err := p.router.Recv()
		if err != nil {
			return
		}
		if start, ok := replayStart(request.Frames); ok {
			p.replay(request.Frames[0], start)
		}
	}
}

// replayStart reads the wanted sequence from identity, empty frame, sequence.
func replayStart(frames [][]byte) (uint64, bool) {
	if len(frames) != 3 || len(frames[1]) != 0 || len(frames[2]) != 8 {
		return 0, false
	}
	return binary.BigEndian.Uint64(frames[2]), true
}

// replay repeats what is kept from start on. A peer that has gone is not an
// error: it will ask again.
func (p *Publisher) replay(identity []byte, start uint64) {
	for _, m := range p.since(start) {
		if p.router.SendMulti(zmq4.NewMsgFrom(p.form.frames(identity, m)...)) != nil {
			return
		}
	}
	if p.router.SendMulti(zmq4.NewMsgFrom(p.form.end(identity)...)) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.replays++
}

func (p *Publisher) since(start uint64) []Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []Message
	for _, m := range p.history {
		if m.Sequence >= start {
			out = append(out, m)
		}
	}
	return out
}
