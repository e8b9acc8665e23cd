/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/test/engine/sim"
)

const (
	// reportPause is the time between two lines about it.
	reportPause = 2 * time.Second
	// checkedTurns is how many turns per engine a check takes.
	checkedTurns = 150
)

// simulatedEngine is a simulated engine under a load of conversations.
type simulatedEngine struct {
	engine

	sim  *sim.Engine
	load *sim.Workload
}

// simulations describes the simulated engines.
func simulations() []source {
	return []source{
		{engine: engine{manifest: "demo-vllm.yaml", pod: "vllm-0", model: "tiny-llama", scheme: "vllm", title: "simulated vLLM"}},
		{engine: engine{manifest: "demo-vllm-hybrid.yaml", pod: "vllm-hybrid-0", model: "tiny-gemma", scheme: "vllm", title: "simulated vLLM, hybrid"}},
		{engine: engine{manifest: "demo-sglang.yaml", pod: "sglang-0", model: "tiny-llama", scheme: "sglang", title: "simulated SGLang, HiCache"}},
	}
}

// simConfig is the cache of the engine behind a manifest: small, so that the
// load evicts.
func simConfig(manifest string) sim.Config {
	switch manifest {
	case "demo-vllm-hybrid.yaml":
		return sim.Config{Blocks: 768, Groups: []sim.Group{{Window: 128}, {}}, Model: "tiny-gemma"}
	case "demo-sglang.yaml":
		return sim.Config{Engine: sim.SGLang, Blocks: 256, HostBlocks: 512}
	default:
		return sim.Config{Blocks: 384}
	}
}

// simulate starts the simulated engine of a source.
func simulate(s source, seed uint64) (*simulatedEngine, error) {
	cfg := simConfig(s.manifest)
	cfg.Seed = seed
	simulated, err := sim.New(cfg)
	if err != nil {
		return nil, err
	}
	e := &simulatedEngine{
		engine: s.engine,
		sim:    simulated,
		load:   sim.NewWorkload(sim.WorkloadConfig{Seed: seed, MaxTokens: 700, Salted: 20}),
	}
	e.events, e.replay, e.metrics = simulated.EventsEndpoint(), simulated.ReplayEndpoint(), simulated.MetricsURL()
	e.newest = func() (uint64, bool) {
		n := simulated.Messages()
		return n - 1, n > 0
	}
	return e, nil
}

// turn runs one turn of the load: ask the index, then the engine.
func (e *simulatedEngine) turn(ctx context.Context, s *server) (answer, error) {
	conversation, request := e.load.Next()
	if err := e.awaitIndex(ctx); err != nil {
		return answer{}, err
	}
	a, err := e.ask(ctx, s, &pb.LookupRouteRequest{
		ModelId: e.model, TenantId: namespace, TokenIds: request.Tokens, CacheSalt: request.Salt,
	})
	if err != nil {
		return a, err
	}
	response, err := e.sim.Request(ctx, request)
	if err != nil {
		return a, err
	}
	e.load.Answer(conversation, response.OutputTokens)
	a.reused = response.CachedTokens
	return a, nil
}

// run goes on until ctx ends or, if turns is not 0, after so many turns.
func (e *simulatedEngine) run(ctx context.Context, s *stage, turns int) (score, error) {
	result := score{engine: e.backend, title: e.title}
	if err := awaitSubscriber(ctx, e.sim); err != nil {
		return result, err
	}
	pace := newPacer(s.cfg.pace)
	defer pace.stop()
	reported := time.Now()
	for turns == 0 || result.requests < turns {
		a, err := e.turn(ctx, s.server)
		if err != nil {
			return result, err
		}
		result.add(a)
		if time.Since(reported) >= reportPause {
			reported = time.Now()
			s.console.progress(result)
		}
		if err := pace.wait(ctx); err != nil {
			return result, err
		}
	}
	return result, nil
}

// runAll runs the load of all engines at once. The scores count also when it
// was interrupted.
func (s *stage) runAll(engines []*simulatedEngine, turns int) ([]score, error) {
	scores := make([]score, len(engines))
	group, ctx := errgroup.WithContext(s.ctx)
	for i, e := range engines {
		group.Go(func() error {
			var err error
			scores[i], err = e.run(ctx, s, turns)
			return err
		})
	}
	return scores, group.Wait()
}
