/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/index"
)

// open checks a hello and opens its session. An older stream of the same holder
// is told to end. Only sessions count against the limit of streams, so that who may
// not report takes no place of who may.
func (s *Server) open(ctx context.Context, who Identity, hello *pb.Hello) (*session, *pb.HelloReply, error) {
	h, err := helloOf(hello)
	if err != nil {
		return nil, nil, statusOf(err)
	}
	permission, err := s.mayReport(ctx, who, &h)
	if err != nil {
		return nil, nil, refusal(err, codes.PermissionDenied)
	}
	counted := s.counts(ctx)
	if s.streams.Add(counted)+1-counted > int64(s.config.Limits.ReportStreams) {
		s.streams.Add(-counted)
		return nil, nil, status.Errorf(codes.ResourceExhausted, "%d report streams are open already", s.config.Limits.ReportStreams)
	}
	sess := &session{
		index: s.config.Index, metrics: s.metricsOf(ctx), counted: counted, clock: s.config.Clock, messageBytes: s.config.Limits.MessageBytes,
		holder: h.Holder, hello: h, permission: permission, ended: make(chan error, 1),
	}
	h.Backend = permission.Backend
	// The lock spans both steps, so that the stream which the index takes as the
	// newest is the one that stays.
	s.mu.Lock()
	defer s.mu.Unlock()
	stream, reply, err := s.config.Index.Open(h, s.config.Clock.Now())
	if err != nil {
		s.streams.Add(-counted)
		return nil, nil, statusOf(err)
	}
	sess.stream = stream
	sessions := s.sessions[h.Holder.Namespace]
	if older := sessions[h.Holder]; older != nil {
		older.end(errSuperseded)
	}
	if sessions == nil {
		sessions = map[index.Holder]*session{}
		s.sessions[h.Holder.Namespace] = sessions
	}
	sessions[h.Holder] = sess
	out := &pb.HelloReply{
		SnapshotWanted:  reply.SnapshotWanted,
		ObservedBy:      s.config.Name,
		LeaseMs:         uint32(s.config.Index.Lease().Milliseconds()),
		MaxMessageBytes: uint32(s.config.Limits.MessageBytes),
	}
	if !reply.SnapshotWanted {
		out.ResumeFrom = reply.ResumeFrom
	}
	return sess, out, nil
}

// close ends a session. Its holder is suspect from now on, unless a newer stream
// has taken over.
func (s *Server) close(sess *session) {
	defer s.streams.Add(-sess.counted)
	s.config.Index.Close(sess.stream, s.config.Clock.Now())
	s.mu.Lock()
	defer s.mu.Unlock()
	sessions := s.sessions[sess.holder.Namespace]
	if sessions[sess.holder] != sess {
		return
	}
	delete(sessions, sess.holder)
	if len(sessions) == 0 {
		delete(s.sessions, sess.holder.Namespace)
	}
}
