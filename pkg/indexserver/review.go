/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// DefaultReviewInterval is how often what a stream was allowed is decided anew. A
// token that is revoked, or whose Pod is gone, is good for a stream that long; ten
// thousand engines cost a cluster some thirty reviews a second and index replica.
const DefaultReviewInterval = 5 * time.Minute

// expired is what a stream is told whose token is not good any more. A client that
// reads its token anew has a good one, because tokens are renewed before they end.
const expired = "the token that the stream was opened with is not valid any more"

type watchKey struct{}

// watch is who looks at whether a stream may go on.
type watch struct {
	end context.CancelCauseFunc
	// also is asked after the token was found good.
	also atomic.Pointer[func(ctx context.Context, who Identity) error]
}

// revoked is the cause of the end of a stream that may not go on.
type revoked struct{ error }

// whyEnded returns the status that a stream ends with whose context is done.
func whyEnded(ctx context.Context) error {
	if why, ok := errors.AsType[revoked](context.Cause(ctx)); ok {
		return why.error
	}
	return status.FromContextError(ctx.Err()).Err()
}

// watchFrom returns who watches a stream; nil for a call that came without one.
func watchFrom(ctx context.Context) *watch {
	w, _ := ctx.Value(watchKey{}).(*watch)
	return w
}

// review asks about a stream until it ends. Streams differ in their interval by up
// to a half, so that those which began together do not ask together.
func (s *Server) review(ctx context.Context, w *watch) {
	token, _ := bearerToken(ctx)
	every := s.config.ReviewInterval
	for {
		timer := s.config.Clock.NewTimer(every*3/4 + rand.N(every/2+1))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C():
		}
		if err := s.stillAllowed(ctx, w, token); err != nil {
			w.end(revoked{err})
			return
		}
	}
}

// stillAllowed returns why a stream has to end. That nobody could be asked is no
// reason: reports and lookups outlive an outage of what decides about them.
func (s *Server) stillAllowed(ctx context.Context, w *watch, token string) error {
	known, err := s.identify(ctx, token)
	if err == nil {
		if also := w.also.Load(); also != nil {
			err = (*also)(ctx, known.who)
		}
		switch status.Code(err) {
		case codes.PermissionDenied, codes.Aborted:
			return err
		}
		return nil
	}
	if status.Code(err) == codes.Unauthenticated {
		return status.Error(codes.Unauthenticated, expired)
	}
	return nil
}

// mayContinue decides anew on a session, after its token was found good.
func (s *Server) mayContinue(ctx context.Context, sess *session, who Identity) error {
	permission, err := s.mayReport(ctx, who, &sess.hello)
	if err != nil {
		return refusal(err, codes.PermissionDenied)
	}
	if permission.Backend != sess.permission.Backend {
		return Moved(sess.permission.Backend, permission.Backend)
	}
	return nil
}
