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

// progress is what one replay has come to.
type progress uint8

const (
	// complete: the engine has nothing more.
	complete progress = iota
	// cutOff: there may be more; another try will tell.
	cutOff
	// holed: there is more, behind something that did not come.
	holed
)

// catchUp asks the engine for what it has published since the last message taken,
// or for everything. It returns when there is nothing more, or no hope of it. A
// hole that stays is given up, so that what lies behind it counts.
func (s *Source) catchUp(ctx context.Context) {
	if !s.opts.Engine.Replayable() {
		return
	}
	for tries := 1; ctx.Err() == nil; tries++ {
		last, started := s.last, s.started
		made := s.replay(ctx, s.last)
		if made == holed && tries == maxTries && s.last == last {
			made = s.replay(ctx, s.last+2)
		}
		switch {
		case made == complete:
			return
		case s.started != started || s.last != last:
			tries = 0
		case tries == maxTries:
			return
		}
	}
}

// replay asks once, from the last message taken or from a later start. Before the
// first message it asks for everything.
func (s *Source) replay(ctx context.Context, start uint64) progress {
	logger := logr.FromContextOrDiscard(ctx)
	s.opts.Metrics.Replays.Inc()
	verify := s.started && start == s.last
	s.verified = !s.started
	result, err := s.opts.Engine.Replay(ctx, start, func(message kvevents.Message) error {
		return s.replayed(ctx, message)
	})
	switch {
	case ctx.Err() != nil:
		return complete
	case errors.Is(err, errStartedAnew):
		s.restarted(ctx, "a replayed message differs from the one known")
		return cutOff
	case err != nil:
		s.opts.Metrics.ReplayFailures.Inc()
		logger.V(1).Info("Replay failed", "start", start, "delivered", result.Delivered, "err", err.Error())
		return cutOff // that is not the engine's word
	case verify && result.Ended && result.Delivered == 0 && !result.Hole:
		// The engine does not have the last message: it begins its own count.
		s.restarted(ctx, "the engine does not know its last message")
		return cutOff
	case result.Hole:
		s.opts.Metrics.Holes.Inc()
		return holed
	case !result.Ended:
		return cutOff // by a limit or by silence
	}
	return complete
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
	s.take(ctx, message)
	return nil
}
