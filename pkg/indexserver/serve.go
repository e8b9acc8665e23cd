/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// tickEvery is how often leases are looked at and health is told.
const tickEvery = time.Second

// Serve answers calls on a listener, which it closes, until ctx is done. Then it
// tells report streams to end and waits for calls, but not longer than
// Limits.StopGrace. It returns nil after such a stop. A server serves once.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	server := grpc.NewServer(s.Options()...)
	s.Register(server)
	checks := health.NewServer()
	grpc_health_v1.RegisterHealthServer(server, checks)
	reflection.Register(server)

	ticker := s.config.Clock.NewTicker(tickEvery)
	defer ticker.Stop()
	s.tick(checks)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	s.config.Logger.V(2).Info("Index server started", "address", listener.Addr().String(), "name", s.config.Name)
	for {
		select {
		case err := <-served:
			s.endStreams()
			server.Stop()
			return fmt.Errorf("serve gRPC on %s: %w", listener.Addr(), err)
		case <-ctx.Done():
			checks.Shutdown()
			s.stop(server)
			s.config.Logger.V(2).Info("Index server stopped", "address", listener.Addr().String())
			if err := <-served; !errors.Is(err, grpc.ErrServerStopped) {
				return err
			}
			// It was stopped before it had begun.
			return nil
		case <-ticker.C():
			s.tick(checks)
		}
	}
}

// tick drops what has expired and tells health whether the index is complete.
func (s *Server) tick(checks *health.Server) {
	now := s.config.Clock.Now()
	s.config.Index.Expire(now)
	state := grpc_health_v1.HealthCheckResponse_NOT_SERVING
	if s.config.Index.Complete(now) {
		state = grpc_health_v1.HealthCheckResponse_SERVING
	}
	checks.SetServingStatus(pb.InferenceCache_ServiceDesc.ServiceName, state)
}

// endStreams tells report streams to end.
func (s *Server) endStreams() {
	s.stopOnce.Do(func() { close(s.stopping) })
}

// stop ends a server gracefully, and forcibly when that takes too long.
func (s *Server) stop(server *grpc.Server) {
	s.endStreams()
	// The bound is one of real time, whatever clock the index runs on.
	force := time.AfterFunc(s.config.Limits.StopGrace, server.Stop)
	defer force.Stop()
	server.GracefulStop()
}
