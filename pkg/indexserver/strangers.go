/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"context"
	"net/netip"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/utils/clock"
)

const (
	// strangersAtOnce bounds the questions under way about what nobody has found good
	// before. It is far below what a cluster is asked at a time about those who are
	// known, so that these do not wait behind a crowd.
	strangersAtOnce = 32
	// strangerWait is how long such a question waits for its turn.
	strangerWait = 10 * time.Second
)

// errCrowd is for who has waited in vain; it says nothing about the token.
var errCrowd = status.Error(codes.Unavailable, "too many questions about others are under way; try again in a moment")

// strangers lets questions through about what nobody has found good before: each may
// be one of many guesses, and costs the cluster a review.
type strangers struct {
	mistakes mistakes
	turns    chan struct{}
}

func newStrangers() strangers {
	return strangers{turns: make(chan struct{}, strangersAtOnce)}
}

// enter waits until a question may be asked, and returns why it must not be. Whoever
// got no error calls leave. Mistakes are looked at when the turn has come: of a
// thousand guesses that arrive together only the first are asked about.
func (s *strangers) enter(ctx context.Context, from netip.Addr, c clock.PassiveClock, tooMany error) error {
	if !s.mistakes.forgives(from, c.Now()) {
		return tooMany
	}
	wait := time.NewTimer(strangerWait)
	defer wait.Stop()
	select {
	case s.turns <- struct{}{}:
	case <-wait.C:
		return errCrowd
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
	if !s.mistakes.forgives(from, c.Now()) {
		s.leave()
		return tooMany
	}
	return nil
}

// leave makes room for the next question.
func (s *strangers) leave() { <-s.turns }
