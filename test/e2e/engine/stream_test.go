//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"inferencecache.io/inference-cache/pkg/kvevents"
	"inferencecache.io/inference-cache/pkg/zmtp"
)

// redial is the time between two attempts to reach an engine that is not there.
const redial = 50 * time.Millisecond

// stream listens to an engine's events beside the subscriber.
type stream struct {
	recorder *recorder
	done     chan error
	stop     context.CancelFunc
	// seen has the sequence of the message with what was expected.
	seen chan uint64

	mu sync.Mutex
	// expected are the tokens to look for.
	expected []uint32
	// counted is how many events were published, by kind.
	counted map[kvevents.Kind]int
}

// listen begins to listen at the engine's PUB socket, through all of its lives.
func listen(ctx context.Context, endpoint string, r *recorder) *stream {
	ctx, stop := context.WithCancel(ctx)
	s := &stream{
		recorder: r, done: make(chan error, 1), stop: stop,
		seen: make(chan uint64, 1), counted: map[kvevents.Kind]int{},
	}
	go func() { s.done <- s.run(ctx, endpoint) }()
	return s
}

// close ends the stream and returns what went wrong with it.
func (s *stream) close() error {
	s.stop()
	return <-s.done
}

func (s *stream) run(ctx context.Context, endpoint string) error {
	ticker := time.NewTicker(redial)
	defer ticker.Stop()
	for {
		if subscription, err := kvevents.Subscribe(ctx, endpoint, "", zmtp.Options{}); err == nil {
			err := s.read(subscription)
			_ = subscription.Close() // nothing was written that could be lost
			if err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// read takes messages until the connection ends. An error means that the test
// cannot go on.
func (s *stream) read(subscription *kvevents.Subscription) error {
	var decoder kvevents.Decoder
	for {
		message, err := subscription.Next()
		if err != nil {
			return nil
		}
		if err := s.recorder.message(message, binary.BigEndian.AppendUint64(nil, message.Sequence)); err != nil {
			return err
		}
		batch, err := decoder.Decode(message.Payload)
		if err != nil {
			return err
		}
		if batch.Skipped > 0 {
			return fmt.Errorf("message %d: %d events that are not understood", message.Sequence, batch.Skipped)
		}
		s.take(batch, message.Sequence)
	}
}

// take counts events and looks for what is expected.
func (s *stream) take(batch *kvevents.Batch, sequence uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range batch.Events {
		event := &batch.Events[i]
		s.counted[event.Kind]++
		if s.expected != nil && event.Kind == kvevents.BlockStored && slices.Equal(event.Tokens, s.expected) {
			s.expected = nil
			s.seen <- sequence
		}
	}
}

// expect begins to look for the store of a block, and for nothing else any more.
func (s *stream) expect(tokens []uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expected = tokens
	select {
	case <-s.seen:
	default:
	}
}

// count returns how many events of a kind were published.
func (s *stream) count(kind kvevents.Kind) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counted[kind]
}

// errUnseen means that what was expected did not come.
var errUnseen = errors.New("the engine did not publish what was expected")

// await returns the sequence of the message that stores the expected block.
func (s *stream) await(ctx context.Context, within time.Duration) (uint64, error) {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case sequence := <-s.seen:
		return sequence, nil
	case <-timer.C:
		return 0, errUnseen
	case err := <-s.done:
		s.done <- err
		return 0, fmt.Errorf("listening to the engine: %w", err)
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}
