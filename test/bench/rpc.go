/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// callTarget is a ratio of medians of the time on the wall.
const callTarget = 1.05

// calls compares lookups over the network with echoes of as many bytes each way,
// in alternation on one connection.
func (b *bench) calls(ctx context.Context) error {
	f, err := b.fleet()
	if err != nil {
		return err
	}
	if _, err := b.stairs(f, plainModel, stairChains, 0, askedChain, false); err != nil {
		return err
	}
	s, err := startServer(f.x)
	if err != nil {
		return err
	}
	defer s.stop()
	for _, c := range []struct {
		name   string
		prompt chain
		blocks int
		topK   int32
		target bool
	}{
		{fmt.Sprintf("%d holders × %d blocks, best 4", b.holders, askedChain), stairChains, askedChain, 4, true},
		{fmt.Sprintf("1 holder × %d blocks, best 4", longChain), residentChains, longChain, 4, true},
		{fmt.Sprintf("%d holders × %d blocks, all %d in the answer", b.holders, askedChain, b.holders), stairChains, askedChain, 0, false},
	} {
		request := &pb.LookupRouteRequest{TenantId: tenant, ModelId: plainModel, PackedBlockHashes: packed(c.prompt, c.blocks), TopK: c.topK}
		e, err := newExchange(ctx, s, request)
		if err != nil {
			return err
		}
		if err := e.repeat(ctx, b.rounds); err != nil {
			return err
		}
		lookup, echo := e.lookups.median(), e.echoes.median()
		name, measured := "LookupRoute p50 ÷ echo p50, "+c.name, fmt.Sprintf("%s; %s; %d + %d bytes, wall clock", short(lookup), short(echo), e.requestBytes, e.replyBytes)
		if c.target {
			b.atMost(name, measured, fraction, float64(lookup)/float64(echo), callTarget)
		} else {
			b.tell(name, fmt.Sprintf("%s: %.2f", measured, float64(lookup)/float64(echo)))
		}
	}
	return nil
}

// exchange calls LookupRoute and Echo in turn.
type exchange struct {
	conn                     *grpc.ClientConn
	client                   pb.InferenceCacheClient
	request                  *pb.LookupRouteRequest
	echoed                   *wrapperspb.BytesValue
	requestBytes, replyBytes int
	lookups, echoes          samples
}

// newExchange asks once, to know how many bytes an echo has to have.
func newExchange(ctx context.Context, s *server, request *pb.LookupRouteRequest) (*exchange, error) {
	e := &exchange{conn: s.conn, client: pb.NewInferenceCacheClient(s.conn), request: request}
	response, err := e.client.LookupRoute(ctx, request)
	if err != nil {
		return nil, err
	}
	if response.GetReasonCode() != "PREFIX_MATCH" {
		return nil, fmt.Errorf("a resident prompt was answered with %s: %s", response.GetReasonCode(), response.GetExplanation())
	}
	e.requestBytes, e.replyBytes = proto.Size(request), proto.Size(response)
	e.echoed = bytesOf(e.requestBytes)
	s.echo.reply.Store(bytesOf(e.replyBytes))
	return e, nil
}

// repeat makes calls of both kinds, one after the other.
func (e *exchange) repeat(ctx context.Context, rounds int) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	warmUp := rounds / 10
	for i := range warmUp + rounds {
		start := time.Now()
		if _, err := e.client.LookupRoute(ctx, e.request); err != nil {
			return err
		}
		middle := time.Now()
		if err := e.conn.Invoke(ctx, echoMethod, e.echoed, new(wrapperspb.BytesValue)); err != nil {
			return err
		}
		if i >= warmUp {
			e.lookups, e.echoes = append(e.lookups, middle.Sub(start)), append(e.echoes, time.Since(middle))
		}
	}
	return nil
}

// packed returns the start of a chain as the contract packs it.
func packed(c chain, blocks int) []byte {
	var out []byte
	for _, hash := range c.hashes(blocks) {
		out = binary.BigEndian.AppendUint64(out, hash)
	}
	return out
}

// bytesOf returns a message that takes so many bytes.
func bytesOf(size int) *wrapperspb.BytesValue {
	m := wrapperspb.Bytes(make([]byte, size))
	m.Value = m.Value[:max(0, 2*size-proto.Size(m))]
	return m
}
