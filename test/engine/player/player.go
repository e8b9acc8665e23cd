/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package player

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"inferencecache.io/inference-cache/test/captures"
	"inferencecache.io/inference-cache/test/engine/sim"
	"inferencecache.io/inference-cache/test/engine/wire"
)

// Player plays one recording. Its methods may be called from several goroutines.
type Player struct {
	recording *captures.Recording
	publisher *wire.Publisher

	mu   sync.Mutex
	sent int
}

// New binds the sockets of a recorded engine on free loopback ports. Nothing has
// been sent yet.
func New(recording *captures.Recording) (*Player, error) {
	version, _, _ := strings.Cut(recording.Version, "-")
	form, err := sim.ReplayForm(recording.Engine, version)
	if err != nil {
		return nil, fmt.Errorf("play recording: %w", err)
	}
	publisher, err := wire.NewPublisher(wire.Config{Form: form})
	if err != nil {
		return nil, fmt.Errorf("play recording: %w", err)
	}
	p := &Player{recording: recording, publisher: publisher}
	if recording.Engine == sim.SGLang && len(recording.Frames) > 0 && recording.Frames[0].Sequence() == 1 {
		first := recording.Frames[0]
		payload, err := sim.ClearedPayload(recording.Engine, version, 0, first.Timestamp-1)
		if err != nil {
			return nil, fmt.Errorf("play recording: %w", err)
		}
		publisher.Keep(wire.Message{Topic: first.Frames[0], Payload: payload})
	}
	return p, nil
}

// EventsEndpoint is the PUB socket as a subscriber connects to it.
func (p *Player) EventsEndpoint() string { return "tcp://" + p.publisher.EventsAddr().String() }

// ReplayEndpoint is the ROUTER socket as a subscriber connects to it.
func (p *Player) ReplayEndpoint() string { return "tcp://" + p.publisher.ReplayAddr().String() }

// WaitSubscribed returns when somebody has subscribed to the events, or with the
// error of ctx. What is sent before can only be had by replay.
func (p *Player) WaitSubscribed(ctx context.Context) error {
	return p.publisher.WaitSubscribed(ctx)
}

// AdvanceToRequest sends every message that the engine had published when
// request i of the recording was sent.
func (p *Player) AdvanceToRequest(i int) error {
	return p.advance(p.recording.FramesBefore(i))
}

// Advance sends every message whose batch is older than a time in milliseconds
// since 1970.
func (p *Player) Advance(untilMS int64) error {
	n := 0
	for n < len(p.recording.Frames) && p.recording.Frames[n].Timestamp < float64(untilMS)/1000 {
		n++
	}
	return p.advance(n)
}

// AdvanceToEnd sends all that is left.
func (p *Player) AdvanceToEnd() error {
	return p.advance(len(p.recording.Frames))
}

func (p *Player) advance(n int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for ; p.sent < n; p.sent++ {
		frame := p.recording.Frames[p.sent]
		m := wire.Message{Topic: frame.Frames[0], Sequence: frame.Sequence(), Payload: frame.Frames[2]}
		if err := p.publisher.Publish(m); err != nil {
			return fmt.Errorf("play recording: %w", err)
		}
	}
	return nil
}

// Newest returns the sequence of the newest message sent. Before the first one
// ok is false.
func (p *Player) Newest() (sequence uint64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sent == 0 {
		return 0, false
	}
	return p.recording.Frames[p.sent-1].Sequence(), true
}

// Close closes the sockets.
func (p *Player) Close() error {
	return p.publisher.Close()
}
