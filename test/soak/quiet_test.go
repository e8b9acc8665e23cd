//go:build integration

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package soak

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/test/engine/sim"
	"inferencecache.io/inference-cache/test/programs"
)

// prompts is how many are asked about at a quiet point.
const prompts = 32

// tally counts answers about one engine.
type tally struct {
	// hits are right and above 0, misses right and 0, bounds lower than the truth
	// and said or expected to be a bound.
	hits, misses, bounds int
}

// settle waits until both servers know all that the engines have said.
func settle(ctx context.Context, l *load, servers []*server, engines []*engine) error {
	group, groupCtx := errgroup.WithContext(ctx)
	for _, e := range engines {
		group.Go(func() error { return e.await(groupCtx, l) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	// What a subscriber calls acknowledged may have been acknowledged by a server
	// that has died since.
	for i, s := range servers {
		if err := programs.Poll(ctx, func() error { return s.knowsAll(ctx, len(engines)) }); err != nil {
			return fmt.Errorf("server %d: %w\n%s", i, err, programs.Tail(s.Log()))
		}
	}
	return nil
}

// knowsAll says what keeps the server from having the state of all engines.
func (s *server) knowsAll(ctx context.Context, engines int) error {
	states, err := s.State(ctx, tenant, model)
	if err != nil {
		return err
	}
	if len(states) != engines {
		return fmt.Errorf("%d engines are known, want %d", len(states), engines)
	}
	for _, state := range states {
		if state.GetState() != "Live" && state.GetState() != "Degraded" {
			return fmt.Errorf("%s is %s", state.GetPod(), state.GetState())
		}
	}
	return nil
}

// judge compares what the servers say about some prompts with what every engine
// would reuse.
func judge(ctx context.Context, l *load, servers []*server, engines []*engine, sum *tally) error {
	for range prompts {
		_, r := l.next()
		if l.draw(2) == 0 {
			r.Tokens = r.Tokens[:1+l.draw(len(r.Tokens))]
		}
		for i, s := range servers {
			answer, err := s.Lookup(ctx, question(r))
			if err != nil {
				return fmt.Errorf("server %d: %w", i, err)
			}
			for _, e := range engines {
				if err := e.judge(r, answer, sum); err != nil {
					return errors.Join(fmt.Errorf("server %d about %s: %w", i, e.name, err),
						errors.New(s.explain(ctx, r)), errors.New(programs.Tail(e.log())))
				}
			}
		}
	}
	return nil
}

// judge compares one answer with what the engine would reuse.
func (e *engine) judge(r sim.Request, answer *pb.LookupRouteResponse, sum *tally) error {
	want := e.Foresee(r)
	// What is known to be nothing is not listed. What is not known is neither, unless
	// somebody else has something.
	got, exact := 0, !e.lossy && (answer.GetReasonCode() == "PREFIX_MATCH" || !e.hides(r))
	for _, score := range answer.GetReplicaScores() {
		if score.GetPod() == e.name {
			got, exact = int(score.GetMatchedTokens()), score.GetExact()
		}
	}
	switch {
	case got == want && got > 0:
		sum.hits++
	case got == want:
		sum.misses++
	case got < want && !exact:
		sum.bounds++
	default:
		return fmt.Errorf("%d of %d tokens (salt %q, adapter %q) are promised (exact: %t, events lost: %t), it would reuse %d",
			got, len(r.Tokens), r.Salt, r.Adapter, exact, e.lossy, want)
	}
	return nil
}

// hides tells whether the engine never says for certain what it has of a prompt:
// SGLang forgets an adapter's blocks without an event when it loads it anew.
func (e *engine) hides(r sim.Request) bool {
	return r.Adapter != "" && e.Config().Engine == sim.SGLang
}

// explain asks once more for the reasons.
func (s *server) explain(ctx context.Context, r sim.Request) string {
	q := question(r)
	q.Explain = true
	answer, err := s.Lookup(ctx, q)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(answer)
}
