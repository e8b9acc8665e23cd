/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"errors"
	"io"

	"google.golang.org/grpc"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// LookupRouteStream answers the lookups of a stream one after the other. Whether
// the caller may ask is decided for each; one that it may not ends the stream.
// The stream ends when the client has closed its side and everything is
// answered, or when the server stops.
func (s *Server) LookupRouteStream(stream grpc.BidiStreamingServer[pb.LookupRouteRequest, pb.LookupRouteResponse]) error {
	ctx := stream.Context()
	requests := receive(stream)
	s.lookupStreams.Add(1)
	defer s.lookupStreams.Add(-1)
	for {
		select {
		case <-s.stopping:
			return errStopping
		case <-ctx.Done():
			return whyEnded(ctx)
		case m := <-requests:
			if errors.Is(m.err, io.EOF) {
				return nil
			}
			if m.err != nil {
				return m.err
			}
			if err := s.mayLookup(ctx, m.request.GetTenantId()); err != nil {
				return err
			}
			if err := stream.Send(s.answer(ctx, m.request)); err != nil {
				return err
			}
		}
	}
}
