/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"slices"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/test/captures"
	"inferencecache.io/inference-cache/test/engine/player"
	"inferencecache.io/inference-cache/test/engine/sim"
)

// recordedEngine is a recording that is played.
type recordedEngine struct {
	engine

	recording *captures.Recording
	player    *player.Player
}

// source says where a recording is and what it becomes.
type source struct {
	engine

	dir, scenario string
}

// sources are the recordings that the demo plays.
func sources() []source {
	return []source{
		{
			engine: engine{manifest: "demo-vllm.yaml", pod: "vllm-0", model: "tiny-llama", scheme: "vllm", title: "vLLM 0.32.0"},
			dir:    "vllm/0.32.0",
		},
		{
			engine: engine{manifest: "demo-vllm-hybrid.yaml", pod: "vllm-hybrid-0", model: "tiny-gemma", scheme: "vllm", title: "vLLM 0.32.0, hybrid"},
			dir:    "vllm/0.32.0-hybrid",
		},
		{
			engine: engine{manifest: "demo-sglang.yaml", pod: "sglang-0", model: "tiny-llama", scheme: "sglang", title: "SGLang 0.5.23, HiCache"},
			dir:    "sglang/0.5.23", scenario: "p16-hicache-wt",
		},
	}
}

// open loads a recording and binds its sockets.
func (s source) open() (*recordedEngine, error) {
	load := captures.LoadProcess
	if s.scenario != "" {
		load = func(dir string) (*captures.Recording, error) { return captures.Load(dir, s.scenario) }
	}
	recording, err := load(s.dir)
	if err != nil {
		return nil, err
	}
	recording.Requests = slices.DeleteFunc(recording.Requests, func(r captures.Request) bool { return r.Scenario == sideBySide })
	recording.Frames = slices.DeleteFunc(recording.Frames, func(f captures.Frame) bool { return f.Scenario == sideBySide })
	p, err := player.New(recording)
	if err != nil {
		return nil, err
	}
	e := &recordedEngine{engine: s.engine, recording: recording, player: p}
	e.events, e.replay, e.newest = p.EventsEndpoint(), p.ReplayEndpoint(), p.Newest
	return e, nil
}

// play goes through the recording: for every request it sends what the engine
// had published by then, waits until the index knows, asks, and compares.
func (e *recordedEngine) play(ctx context.Context, s *stage) (score, error) {
	result := score{engine: e.backend, title: e.title}
	if err := awaitSubscriber(ctx, e.player); err != nil {
		return result, err
	}
	total := e.prompts()
	pace := newPacer(s.cfg.pace)
	defer pace.stop()
	for i, request := range e.recording.Requests {
		if request.CachedTokens == nil {
			continue
		}
		if err := e.player.AdvanceToRequest(i); err != nil {
			return result, err
		}
		if err := e.awaitIndex(ctx); err != nil {
			return result, err
		}
		a, err := e.ask(ctx, s.server, lookupOf(&e.engine, request))
		if err != nil {
			return result, err
		}
		a.reused = *request.CachedTokens
		a.why = e.incomparable(i)
		result.add(a)
		s.console.row(e.backend, result.requests, total, a)
		if err := pace.wait(ctx); err != nil {
			return result, err
		}
	}
	if err := e.finish(); err != nil {
		return result, err
	}
	return result, e.awaitIndex(ctx)
}

// finish sends what the last request stored, but not that a reset has ended the
// recording, so that there is something left to look at.
func (e *recordedEngine) finish() error {
	end := -1
	for i, r := range e.recording.Requests {
		switch {
		case r.CachedTokens != nil:
			end = -1
		case r.Op == captures.OpReset && end < 0:
			end = i
		}
	}
	if end < 0 {
		return e.player.AdvanceToEnd()
	}
	return e.player.AdvanceToRequest(end)
}

// sideBySide is the scenario whose requests ran at the same time and were
// answered before the messages that describe them. It is left out.
const sideBySide = "parallel"

// prompts is the number of requests that play goes through.
func (e *recordedEngine) prompts() int {
	n := 0
	for _, r := range e.recording.Requests {
		if r.CachedTokens != nil {
			n++
		}
	}
	return n
}

// incomparable says why no reader of events can predict the answer to request
// i; empty if one can.
func (e *recordedEngine) incomparable(i int) string {
	requests := e.recording.Requests
	switch {
	case i > 0 && requests[i-1].Op == captures.OpReset && e.recording.Engine == sim.VLLM:
		return "a reset is announced with the next step"
	case requests[i].ExtraKey != "":
		return "an extra key is not announced"
	case i > 0 && requests[i].SentMS < requests[i-1].DoneMS,
		i+1 < len(requests) && requests[i+1].SentMS > 0 && requests[i+1].SentMS < requests[i].DoneMS:
		return "requests at the same time"
	default:
		return ""
	}
}

// lookupOf is what a router would ask for a request.
func lookupOf(e *engine, r captures.Request) *pb.LookupRouteRequest {
	return &pb.LookupRouteRequest{
		ModelId:   e.model,
		TenantId:  namespace,
		TokenIds:  r.Prompt,
		AdapterId: r.Adapter,
		CacheSalt: r.CacheSalt,
	}
}

// lastLookup asks for the last prompt of the recording that was reused.
func (e *recordedEngine) lastLookup() *pb.LookupRouteRequest {
	for _, r := range slices.Backward(e.recording.Requests) {
		if r.CachedTokens != nil && *r.CachedTokens > 0 {
			return lookupOf(&e.engine, r)
		}
	}
	return &pb.LookupRouteRequest{ModelId: e.model, TenantId: namespace}
}
