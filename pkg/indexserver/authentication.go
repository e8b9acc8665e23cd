/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// maxTokenBytes bounds what is handed to an authenticator. Pod-bound tokens of
// Kubernetes have about 1 KiB.
const maxTokenBytes = 16 << 10

const missingToken = "send metadata \"authorization: Bearer <token>\""

// openMethods is the prefix of the methods that need no token.
const openMethods = "/grpc.health.v1.Health/"

// authenticate returns the context of a call with the caller's identity in it.
func (s *Server) authenticate(ctx context.Context, method string) (context.Context, error) {
	if strings.HasPrefix(method, openMethods) {
		return ctx, nil
	}
	token, ok := bearerToken(ctx)
	if !ok {
		s.metrics.refused.WithLabelValues(refusedMissing).Inc()
		return nil, status.Error(codes.Unauthenticated, missingToken)
	}
	now := s.config.Clock.Now()
	if known := s.credentials.find(token, now); known != nil {
		return context.WithValue(ctx, callerKey{}, known), nil
	}
	who, err := s.config.Authenticator.Authenticate(ctx, token)
	if err != nil {
		s.metrics.refused.WithLabelValues(refusedToken).Inc()
		return nil, refusal(err, codes.Unauthenticated)
	}
	return context.WithValue(ctx, callerKey{}, s.credentials.remember(token, who, now)), nil
}

// bearerToken reads the token of a call. Several authorization values are as
// good as none: which of them counts would be a guess.
func bearerToken(ctx context.Context) (string, bool) {
	values := metadata.ValueFromIncomingContext(ctx, "authorization")
	if len(values) != 1 {
		return "", false
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	token = strings.TrimSpace(token)
	if !ok || !strings.EqualFold(scheme, "Bearer") || token == "" || len(token) > maxTokenBytes {
		return "", false
	}
	return token, true
}

func (s *Server) unaryInterceptor(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	ctx, err := s.authenticate(ctx, info.FullMethod)
	if err != nil {
		return nil, err
	}
	return handler(ctx, req)
}

func (s *Server) streamInterceptor(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	ctx, err := s.authenticate(stream.Context(), info.FullMethod)
	if err != nil {
		return err
	}
	return handler(srv, identifiedStream{ServerStream: stream, ctx: ctx})
}

// identifiedStream is a stream whose context has the caller's identity.
type identifiedStream struct {
	grpc.ServerStream
	ctx context.Context
}

// Context returns the context with the identity.
func (s identifiedStream) Context() context.Context { return s.ctx }
