/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"context"
	"fmt"
	"sync"

	"google.golang.org/protobuf/proto"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// Bounds of one call. The contract allows 256 lookups; the index reads messages of
// up to 12 MiB.
const (
	batchLookups = 256
	batchBytes   = 8 << 20
)

// LookupBatch asks for several prompts in as few calls as possible. The answers are
// in the order of the queries. The time is that of one Lookup for all of them, and
// what is said there about failures holds for each.
func (c *Client) LookupBatch(ctx context.Context, queries []Query) []Answer {
	answers := make([]Answer, len(queries))
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	var calls sync.WaitGroup
	for _, part := range split(queries, answers) {
		calls.Go(func() {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			responses, err := race(ctx, c, part.question)
			for i, position := range part.positions {
				if err != nil {
					answers[position] = failed(err)
				} else {
					answers[position] = answerOf(responses[i])
				}
			}
		})
	}
	calls.Wait()
	return answers
}

// part is what one call asks, and the positions of its queries.
type part struct {
	question  batch
	positions []int
}

// split distributes queries over calls. Those that cannot be asked are answered.
func split(queries []Query, answers []Answer) []part {
	var parts []part
	bytes := 0
	for i := range queries {
		request, err := queries[i].request()
		if err != nil {
			answers[i] = failed(err)
			continue
		}
		size := proto.Size(request)
		if last := len(parts) - 1; last < 0 || len(parts[last].positions) == batchLookups || bytes+size > batchBytes {
			parts = append(parts, part{question: batch{&pb.LookupRoutesRequest{}}})
			bytes = 0
		}
		bytes += size
		last := &parts[len(parts)-1]
		last.question.request.Requests = append(last.question.request.Requests, request)
		last.positions = append(last.positions, i)
	}
	return parts
}

// batch asks several lookups by one call.
type batch struct{ request *pb.LookupRoutesRequest }

// start implements question.
func (b batch) start(ctx context.Context, p *peer, reply func([]*pb.LookupRouteResponse, error)) {
	go func() {
		response, err := p.client.LookupRoutes(ctx, b.request)
		if wanted, got := len(b.request.GetRequests()), len(response.GetResponses()); err == nil && got != wanted {
			err = fmt.Errorf("%d answers to %d lookups", got, wanted)
		}
		reply(response.GetResponses(), err)
	}()
}

// complete implements question.
func (batch) complete(responses []*pb.LookupRouteResponse) bool {
	for _, response := range responses {
		if !response.GetComplete() {
			return false
		}
	}
	return true
}
