//go:build integration

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/test/engine/sim"
)

const (
	// routers send requests at the same time, turns of them in a round.
	routers, turns = 4, 320
	// hinted percent of the requests go where a server says.
	hinted = 75
)

// load are the conversations of all engines.
type load struct {
	mu       sync.Mutex
	workload *sim.Workload
	random   *rand.Rand

	requests, reused, answered, refused atomic.Int64
}

func newLoad(seed uint64) *load {
	return &load{
		workload: sim.NewWorkload(sim.WorkloadConfig{Seed: seed, Conversations: 48, MaxTokens: 600, Salted: 20}),
		random:   rand.New(rand.NewPCG(seed, 1)),
	}
}

// next makes the next turn of some conversation; a few come under an adapter.
func (l *load) next() (int, sim.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	conversation, r := l.workload.Next()
	if conversation%12 == 0 {
		r.Adapter = "lora-" + string(rune('a'+conversation/12))
	}
	return conversation, r
}

// draw returns a random number below n.
func (l *load) draw(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.random.IntN(n)
}

// serve lets an engine answer one turn.
func (l *load) serve(ctx context.Context, e *engine) error {
	conversation, r := l.next()
	return l.run(ctx, e, conversation, r)
}

func (l *load) run(ctx context.Context, e *engine, conversation int, r sim.Request) error {
	response, err := e.Request(ctx, r)
	if err != nil {
		return fmt.Errorf("%s: %w", e.name, err)
	}
	l.requests.Add(1)
	l.reused.Add(int64(response.CachedTokens))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.workload.Answer(conversation, response.OutputTokens)
	return nil
}

// reached says how many requests are missing to a number of them.
func (l *load) reached(requests int64) error {
	if now := l.requests.Load(); now < requests {
		return fmt.Errorf("%d requests of %d", now, requests)
	}
	return nil
}

// question is the lookup for a request.
func question(r sim.Request) *pb.LookupRouteRequest {
	return &pb.LookupRouteRequest{
		ModelId: model, TenantId: tenant, TokenIds: r.Tokens, AdapterId: r.Adapter, CacheSalt: r.Salt,
	}
}

// route runs a round of requests. Each asks one of the servers first; one that is
// dead at the moment costs nothing but the hint.
func (l *load) route(ctx context.Context, servers []*server, engines []*engine) error {
	group, ctx := errgroup.WithContext(ctx)
	var turn atomic.Int64
	for range routers {
		group.Go(func() error {
			for n := turn.Add(1); n <= turns; n = turn.Add(1) {
				conversation, r := l.next()
				e := engines[l.draw(len(engines))]
				answer, err := servers[int(n)%len(servers)].Lookup(ctx, question(r))
				if err != nil {
					l.refused.Add(1)
				} else if l.answered.Add(1); l.draw(100) < hinted {
					e = best(answer, engines, e)
				}
				if err := l.run(ctx, e, conversation, r); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// best is the engine that an answer names first.
func best(answer *pb.LookupRouteResponse, engines []*engine, otherwise *engine) *engine {
	if scores := answer.GetReplicaScores(); len(scores) > 0 {
		for _, e := range engines {
			if e.name == scores[0].GetPod() {
				return e
			}
		}
	}
	return otherwise
}
