/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// The methods of the echo. Same takes what LookupRoute takes and answers with the
// same bytes as LookupRoute did, without reading or making a message; Bytes does so
// with plain bytes, which the caller need not decode either.
const (
	echoName  = "bench.Echo"
	echoSame  = "/" + echoName + "/Same"
	echoBytes = "/" + echoName + "/Bytes"
)

// echo answers every call with bytes that were chosen before.
type echo struct {
	same  atomic.Pointer[emptypb.Empty]
	bytes atomic.Pointer[wrapperspb.BytesValue]
}

// set chooses the answers. A message without fields of its own carries any bytes
// as they are.
func (e *echo) set(reply []byte) {
	same := &emptypb.Empty{}
	same.ProtoReflect().SetUnknown(reply)
	e.same.Store(same)
	e.bytes.Store(bytesOf(len(reply)))
}

// register adds the echo to a server.
func (e *echo) register(s *grpc.Server) {
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: echoName, HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{
			{MethodName: "Same", Handler: echoHandler(echoSame, func() any { return new(emptypb.Empty) }, func() any { return e.same.Load() })},
			{MethodName: "Bytes", Handler: echoHandler(echoBytes, func() any { return new(wrapperspb.BytesValue) }, func() any { return e.bytes.Load() })},
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

// bytesOf returns a message that takes so many bytes.
func bytesOf(size int) *wrapperspb.BytesValue {
	m := wrapperspb.Bytes(make([]byte, size))
	m.Value = m.Value[:max(0, 2*size-proto.Size(m))]
	return m
}
