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
	"inferencecache.io/inference-cache/pkg/indexserver"
)

// callTarget is a ratio of medians of the time on the wall.
const callTarget = 1.05

// calls compares lookups over the network with echoes of the same bytes, in
// alternation on one connection: the caller does the same, the server nothing but
// answer. Echoes of plain bytes tell what the coding of the messages takes of the
// caller's time.
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
		lookup, echo, plain := e.lookups.median(), e.echoes.median(), e.plain.median()
		name := "LookupRoute p50 ÷ echo p50, " + c.name
		measured := fmt.Sprintf("%s; %s; echo of plain bytes %s; %d + %d bytes, wall clock", short(lookup), short(echo), short(plain), e.requestBytes, e.replyBytes)
		if c.target {
			b.atMost(name, measured, fraction, float64(lookup)/float64(echo), callTarget)
		} else {
			b.tell(name, measured)
		}
		handler, err := b.handler(ctx, s, request)
		if err != nil {
			return err
		}
		b.tell("the server's part of that, in process, CPU", handler)
	}
	return nil
}

// handler tells what the server does for a lookup besides what it does for every
// call: read the question, answer it, and write the answer.
func (b *bench) handler(ctx context.Context, s *server, request *pb.LookupRouteRequest) (string, error) {
	ctx = indexserver.WithIdentity(ctx, indexserver.Identity{Name: "bench"})
	question, err := proto.Marshal(request)
	if err != nil {
		return "", fmt.Errorf("encode a lookup: %w", err)
	}
	var answer *pb.LookupRouteResponse
	note := func(failed error) {
		if failed != nil {
			err = failed
		}
	}
	got := b.compare(
		subject{processCPU, func(int) { note(proto.Unmarshal(question, new(pb.LookupRouteRequest))) }},
		subject{processCPU, func(int) {
			response, failed := s.service.LookupRoute(ctx, request)
			note(failed)
			answer = response
		}},
		subject{processCPU, func(int) {
			_, failed := proto.Marshal(answer)
			note(failed)
		}},
	)
	return fmt.Sprintf("decode %s, answer %s, encode %s", short(got[0].median()), short(got[1].median()), short(got[2].median())), err
}

// exchange calls LookupRoute and the echoes in turn.
type exchange struct {
	conn                     *grpc.ClientConn
	client                   pb.InferenceCacheClient
	request                  *pb.LookupRouteRequest
	echoed                   *wrapperspb.BytesValue
	requestBytes, replyBytes int
	lookups, echoes, plain   samples
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
	reply, err := proto.Marshal(response)
	if err != nil {
		return nil, fmt.Errorf("encode an answer: %w", err)
	}
	s.echo.set(reply)
	e.requestBytes, e.replyBytes = proto.Size(request), len(reply)
	e.echoed = bytesOf(e.requestBytes)
	return e, nil
}

// repeat makes calls of every kind, one after the other.
func (e *exchange) repeat(ctx context.Context, rounds int) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	kinds := []struct {
		times *samples
		call  func() error
	}{
		{&e.lookups, func() error {
			_, err := e.client.LookupRoute(ctx, e.request)
			return err
		}},
		{&e.echoes, func() error { return e.conn.Invoke(ctx, echoSame, e.request, new(pb.LookupRouteResponse)) }},
		{&e.plain, func() error { return e.conn.Invoke(ctx, echoBytes, e.echoed, new(wrapperspb.BytesValue)) }},
	}
	warmUp := rounds / 10
	for i := range warmUp + rounds {
		for _, kind := range kinds {
			start := time.Now()
			if err := kind.call(); err != nil {
				return err
			}
			if took := time.Since(start); i >= warmUp {
				*kind.times = append(*kind.times, took)
			}
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
