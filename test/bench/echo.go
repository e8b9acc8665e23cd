/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// The methods of the echo: one takes and answers any bytes, the other messages of
// LookupRoute. What they answer was chosen before.
const (
	echoName    = "bench.Echo"
	echoBytes   = "/" + echoName + "/Bytes"
	echoMessage = "/" + echoName + "/Message"
)

// echo answers every call with the same.
type echo struct {
	bytes   atomic.Pointer[wrapperspb.BytesValue]
	message atomic.Pointer[pb.LookupRouteResponse]
}

// register adds the echo to a server.
func (e *echo) register(s *grpc.Server) {
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: echoName, HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{
			{MethodName: "Bytes", Handler: echoHandler(echoBytes, func() any { return new(wrapperspb.BytesValue) }, func() any { return e.bytes.Load() })},
			{MethodName: "Message", Handler: echoHandler(echoMessage, func() any { return new(pb.LookupRouteRequest) }, func() any { return e.message.Load() })},
		},
	}, e)
}

// echoHandler is what protoc would generate for a method, with its types as
// functions.
func echoHandler(method string, request, reply func() any) grpc.MethodHandler {
	return func(service any, ctx context.Context, decode func(any) error, intercept grpc.UnaryServerInterceptor) (any, error) {
		in := request()
		if err := decode(in); err != nil {
			return nil, err
		}
		info := &grpc.UnaryServerInfo{Server: service, FullMethod: method}
		return intercept(ctx, in, info, func(context.Context, any) (any, error) { return reply(), nil })
	}
}
