/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package source

import (
	"context"
	"errors"
	"hash/maphash"
	"math/rand/v2"
	"os"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"inferencecache.io/inference-cache/pkg/kvevents"
)

// Defaults of [Options].
const (
	// DefaultIdle is the quiet time after which a replay is asked for. It doubles
	// while nothing comes, up to [DefaultMaxIdle].
	DefaultIdle = 5 * time.Second
	// DefaultMaxIdle is the longest quiet time.
	DefaultMaxIdle = time.Minute
	// DefaultMaxPause is the longest pause between two attempts to subscribe; the
	// shortest is 100 ms.
	DefaultMaxPause = 5 * time.Second

	minPause = 100 * time.Millisecond
)

// Options configure a [Source]. A field that is 0 takes its default.
type Options struct {
	Engine Engine
	Sink   Sink
	// FirstSeen is the number of messages that an engine publishes before anybody
	// can listen and that hold nothing: a live stream that begins at this number
	// has lost nothing.
	FirstSeen uint64
	Metrics   *RankMetrics
	// Idle, MaxIdle and MaxPause: see the defaults.
	Idle, MaxIdle, MaxPause time.Duration
	// Clock is the wall clock when it is nil.
	Clock clock.Clock
}

// Source follows one engine rank.
type Source struct {
	opts    Options
	decoder kvevents.Decoder
	seed    maphash.Seed

	// started: some message has been taken; last and digest are those of the
	// newest one.
	started bool
	last    uint64
	digest  uint64
	// floor is, for the current subscription, the sequence at or below which a
	// live message can only come from an engine that has started anew.
	floor    uint64
	hasFloor bool
	// verified: the replay at hand has begun with the message known as last.
	verified bool
	// idle is the quiet time until the next replay.
	idle time.Duration
}

// New returns a source that is not running yet.
func New(opts Options) *Source {
	if opts.Idle <= 0 {
		opts.Idle = DefaultIdle
	}
	if opts.MaxIdle <= 0 {
		opts.MaxIdle = DefaultMaxIdle
	}
	if opts.MaxPause <= 0 {
		opts.MaxPause = DefaultMaxPause
	}
	if opts.Clock == nil {
		opts.Clock = clock.RealClock{}
	}
	return &Source{opts: opts, seed: maphash.MakeSeed(), idle: opts.Idle}
}

// Run follows the engine until ctx ends.
func (s *Source) Run(ctx context.Context) {
	logger := logr.FromContextOrDiscard(ctx)
	pause := minPause
	quiet := false
	for ctx.Err() == nil {
		began := s.opts.Clock.Now()
		err := s.follow(ctx)
		s.opts.Metrics.Connected.Set(0)
		if ctx.Err() != nil {
			return
		}
		s.opts.Metrics.Disconnects.Inc()
		s.opts.Sink.Disconnected()
		if s.opts.Clock.Since(began) > s.opts.MaxPause {
			pause, quiet = minPause, false
		}
		if !quiet {
			logger.Info("Engine's event stream is not available; trying again", "err", err.Error())
			quiet = true
		}
		wait := pause/2 + rand.N(pause/2+1)
		pause = min(2*pause, s.opts.MaxPause)
		select {
		case <-s.opts.Clock.After(wait):
		case <-ctx.Done():
		}
	}
}

// follow subscribes, catches up and takes messages until the stream ends.
func (s *Source) follow(ctx context.Context) error {
	stream, err := s.opts.Engine.Subscribe(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = stream.Close() }() // nothing was written
	logr.FromContextOrDiscard(ctx).Info("Subscribed to the engine's events")
	s.opts.Metrics.Connected.Set(1)
	s.floor, s.hasFloor = s.last, s.started
	s.idle = s.opts.Idle
	s.catchUp(ctx)
	// Not earlier: until then the sink may hold what an engine had that is gone.
	s.opts.Sink.Connected()
	for {
		if err := stream.SetReadDeadline(s.opts.Clock.Now().Add(s.idle)); err != nil {
			return err
		}
		message, err := stream.Next()
		switch {
		case err == nil:
			s.idle = s.opts.Idle
			s.live(ctx, message)
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, os.ErrDeadlineExceeded):
			s.idle = min(2*s.idle, s.opts.MaxIdle)
			s.catchUp(ctx)
		case errors.Is(err, kvevents.ErrMessage):
			s.opts.Metrics.Unreadable.Inc()
		default:
			return err
		}
	}
}

// live takes one message of the live stream.
func (s *Source) live(ctx context.Context, message kvevents.Message) {
	s.opts.Metrics.Live.Inc()
	if s.hasFloor && message.Sequence <= s.floor {
		s.restarted(ctx, "a live message has a lower sequence")
		// What the new engine said before this message can be had.
		s.floor, s.hasFloor = message.Sequence, true
		s.catchUp(ctx)
	}
	s.floor, s.hasFloor = message.Sequence, true
	if s.started && message.Sequence <= s.last {
		return // the replay was faster
	}
	if !s.follows(message.Sequence) {
		s.opts.Metrics.Gaps.Inc()
		s.catchUp(ctx)
		if s.started && message.Sequence <= s.last {
			return
		}
	}
	if !s.follows(message.Sequence) {
		s.bridge(ctx, message.Sequence)
	}
	s.take(ctx, message)
}

// follows reports whether a message may be taken next without losing any.
func (s *Source) follows(sequence uint64) bool {
	if !s.started {
		return sequence <= s.opts.FirstSeen
	}
	return sequence == s.last+1
}

// bridge gives up what lies between the last message and another one.
func (s *Source) bridge(ctx context.Context, sequence uint64) {
	logger := logr.FromContextOrDiscard(ctx)
	if !s.started {
		logger.Info("The engine's history is incomplete", "firstSequence", sequence, "remedy", "restart the engine, or reset its prefix cache, to be exact from the start")
		s.opts.Sink.Degrade(reasonHistory)
		return
	}
	s.opts.Metrics.Lost.Add(float64(sequence - s.last - 1))
	logger.Info("Messages of the engine are lost; starting over with what follows", "last", s.last, "next", sequence)
	s.opts.Sink.Restart(reasonLost)
}

// Why a state is less than what the engine holds.
const (
	reasonHistory = "the engine's events before the first one seen are not available"
	reasonLost    = "events were lost; what the engine has stored before is not known"
	reasonBatch   = "a message could not be read; what the engine has stored before is not known"
)

// restarted notes that the engine has started anew.
func (s *Source) restarted(ctx context.Context, why string) {
	logr.FromContextOrDiscard(ctx).Info("The engine has started anew", "why", why, "last", s.last)
	s.opts.Metrics.Restarts.Inc()
	s.started, s.last, s.digest = false, 0, 0
	s.hasFloor = false
	s.opts.Metrics.Sequence.Set(-1)
	s.opts.Sink.Restart("")
}

// take hands a message on. One that cannot be read is as good as lost: it may have
// taken blocks away.
func (s *Source) take(ctx context.Context, message kvevents.Message) {
	s.started, s.last = true, message.Sequence
	s.digest = s.digestOf(message.Payload)
	// The sequence is shown when the sink has the message, not before.
	defer s.opts.Metrics.Sequence.Set(float64(message.Sequence))
	batch, err := s.decoder.Decode(message.Payload)
	if err != nil {
		s.opts.Metrics.Unreadable.Inc()
		logr.FromContextOrDiscard(ctx).Info("A message of the engine cannot be read; starting over with what follows", "sequence", message.Sequence, "err", err.Error())
		s.opts.Sink.Restart(reasonBatch)
		return
	}
	s.opts.Sink.Absorb(batch)
}

func (s *Source) digestOf(payload []byte) uint64 { return maphash.Bytes(s.seed, payload) }
