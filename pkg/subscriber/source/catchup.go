/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package source

import (
	"context"
	"errors"

	"github.com/go-logr/logr"

	"inferencecache.io/inference-cache/pkg/kvevents"
)

// maxTries bounds how often one hole is asked for.
const maxTries = 3

// errStartedAnew ends a replay whose first message is not the one known under
// its sequence.
var errStartedAnew = errors.New("another message is known under this sequence")

// catchUp asks the engine for what it has published since the last message taken,
// or for everything. It returns when there is nothing more, or no hope of it.
func (s *Source) catchUp(ctx context.Context) {
	if !s.opts.Engine.Replayable() {
		return
	}
	for tries := 0; tries < maxTries && ctx.Err() == nil; {
		before, started := s.last, s.started
		done := s.replay(ctx)
		if done {
			return
		}
		if s.started == started && s.last == before {
			tries++
		} else {
			tries = 0
		}
	}
}

// replay asks once. It reports whether nothing more is to be had.
func (s *Source) replay(ctx context.Context) (done bool) {
	logger := logr.FromContextOrDiscard(ctx)
	s.opts.Metrics.Replays.Inc()
	start, verify := uint64(0), s.started
	if verify {
		start = s.last
	}
	s.verified = !verify
	result, err := s.opts.Engine.Replay(ctx, start, func(message kvevents.Message) error {
		return s.replayed(ctx, message)
	})
	switch {
	case ctx.Err() != nil:
		return true
	case errors.Is(err, errStartedAnew):
		s.restarted(ctx, "a replayed message differs from the one known")
		return false
	case err != nil:
		s.opts.Metrics.ReplayFailures.Inc()
		logger.V(1).Info("Replay failed", "start", start, "delivered", result.Delivered, "err", err.Error())
		return false // that is not the engine's word
	case verify && result.Ended && result.Delivered == 0 && !result.Hole:
		// The engine does not have the last message: it begins its own count.
		s.restarted(ctx, "the engine does not know its last message")
		return false
	case result.Hole:
		s.opts.Metrics.Holes.Inc()
		return false
	case !result.Ended:
		return false // cut off by a limit or by silence
	}
	return true
}

// replayed takes one replayed message. The first one is the last one taken, which
// proves that this is still the same engine.
func (s *Source) replayed(ctx context.Context, message kvevents.Message) error {
	s.opts.Metrics.Replayed.Inc()
	switch {
	case s.started && message.Sequence == s.last:
		if s.digestOf(message.Payload) != s.digest {
			return errStartedAnew
		}
		s.verified = true
		return nil
	case s.started && message.Sequence < s.last:
		return nil
	case s.started && (message.Sequence > s.last+1 || !s.verified):
		// The engine's memory does not reach back to what is missing, or just not
		// to what would prove that it is the same engine.
		s.bridge(ctx, message.Sequence)
	case !s.started && message.Sequence > s.opts.FirstSeen:
		s.bridge(ctx, message.Sequence)
	}
	s.verified = true
	s.take(message)
	return nil
}
