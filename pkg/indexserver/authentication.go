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
	"google.golang.org/grpc/tap"
)

// maxTokenBytes bounds what is handed to an authenticator. Pod-bound tokens of
// Kubernetes have about 1 KiB.
const maxTokenBytes = 16 << 10

// authorization is the header that carries the token.
const authorization = "authorization"

const missingToken = "send metadata \"authorization: Bearer <token>\""

// tap refuses a call without a token before anything of it is looked at, also one
// whose method does not exist or has no name that could: what is there shows only to
// who may know. It runs between the frames of a connection, so it asks nobody.
func (s *Server) tap(ctx context.Context, info *tap.Info) (context.Context, error) {
	_, ok := tokenIn(info.Header[authorization])
	if !ok || strings.Count(info.FullMethodName, "/") != 2 {
		s.metrics.refused.WithLabelValues(refusedMissing).Inc()
		return nil, status.Error(codes.Unauthenticated, missingToken)
	}
	return ctx, nil
}

// authenticate returns the caller of a call, and the context with it.
func (s *Server) authenticate(ctx context.Context) (context.Context, error) {
	token, ok := bearerToken(ctx)
	if !ok {
		s.metrics.refused.WithLabelValues(refusedMissing).Inc()
		return nil, status.Error(codes.Unauthenticated, missingToken)
	}
	known, err := s.identify(ctx, token)
	if err != nil {
		return nil, err
	}
	return context.WithValue(ctx, callerKey{}, known), nil
}

// bearerToken reads the token of a call.
func bearerToken(ctx context.Context) (string, bool) {
	return tokenIn(metadata.ValueFromIncomingContext(ctx, authorization))
}

// tokenIn reads the token of authorization headers. Several are as good as none: which
// of them counts would be a guess.
func tokenIn(values []string) (string, bool) {
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

func (s *Server) unaryInterceptor(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	ctx, err := s.authenticate(ctx)
	if err != nil {
		return nil, err
	}
	return handler(ctx, req)
}

// streamInterceptor authenticates a stream, and again from time to time for as long
// as it lasts: its end is then the reason of that.
func (s *Server) streamInterceptor(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	ctx, err := s.authenticate(stream.Context())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := &watch{end: cancel}
	ctx = context.WithValue(ctx, watchKey{}, watch)
	go s.review(ctx, watch)
	err = handler(srv, identifiedStream{ServerStream: stream, ctx: ctx})
	if err != nil && ctx.Err() != nil {
		return whyEnded(ctx)
	}
	return err
}

// unknownMethod answers calls of methods that do not exist, by who may know that.
func unknownMethod(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.Method(stream.Context())
	return status.Errorf(codes.Unimplemented, "method %s is not known", method)
}

// identifiedStream is a stream whose context has the caller's identity.
type identifiedStream struct {
	grpc.ServerStream
	ctx context.Context
}

// Context returns the context with the identity.
func (s identifiedStream) Context() context.Context { return s.ctx }
