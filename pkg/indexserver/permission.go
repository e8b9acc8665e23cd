/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"inferencecache.io/inference-cache/pkg/index"
)

// Permission is what an Authorizer grants a session.
type Permission struct {
	// Backend is what the session counts for, whether or not its hello names it; the
	// zero value is none.
	Backend index.Backend
	// Holds says whether the same is granted by what the Authorizer knows by now,
	// without asking anybody; nil means that it always is. Its error ends the session
	// with Aborted and its text, or with its own code when it is a gRPC status. It is
	// called concurrently.
	Holds func() error
}

// Recheck ends the sessions of a namespace whose permission does not hold any more.
// It is for an Authorizer that has learnt something; it looks at that namespace's
// sessions only, and asks nobody.
func (s *Server) Recheck(namespace string) {
	s.mu.Lock()
	sessions := make([]*session, 0, len(s.sessions[namespace]))
	for _, sess := range s.sessions[namespace] {
		sessions = append(sessions, sess)
	}
	s.mu.Unlock()
	for _, sess := range sessions {
		s.recheck(sess)
	}
}

// recheck ends a session whose permission does not hold any more. Its holder is
// suspect at once, whether or not the stream is in a state to notice.
func (s *Server) recheck(sess *session) {
	if sess.permission.Holds == nil {
		return
	}
	if err := sess.permission.Holds(); err != nil {
		sess.end(refusal(err, codes.Aborted))
		s.config.Index.Close(sess.stream, s.config.Clock.Now())
	}
}

// Moved is the error of a session that counts for another backend than it was opened
// for: a new one of the same holder will count for that.
func Moved(from, to index.Backend) error {
	return status.Errorf(codes.Aborted, "the session counted for %s and now counts for %s; open it again", NameOf(from), NameOf(to))
}

// NameOf names a backend in messages.
func NameOf(b index.Backend) string {
	if b == (index.Backend{}) {
		return "no CacheBackend"
	}
	return "CacheBackend " + b.Namespace + "/" + b.Name
}
