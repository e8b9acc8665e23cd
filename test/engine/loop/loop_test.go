/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package loop

import (
	"context"
	"testing"
	"time"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/indexserver/indexservertest"
	"inferencecache.io/inference-cache/pkg/subscriber"
	"inferencecache.io/inference-cache/test/engine/progress"
	"inferencecache.io/inference-cache/test/engine/sim"
)

const (
	namespace = "default"
	pod       = "engine-0"
	model     = "tiny-llama"
	// patience bounds the wait for one answer; it is met in milliseconds.
	patience = time.Minute
)

// loop is an engine, its subscriber and an index.
type loop struct {
	t       *testing.T
	engine  *sim.Engine
	load    *sim.Workload
	lookups pb.InferenceCacheClient
	metrics string
	// restarts counts those of the engine.
	restarts        int
	compared, lower int
}

func start(t *testing.T, cfg sim.Config, load sim.WorkloadConfig, change ...func(*subscriber.Options)) *loop {
	t.Helper()
	engine, err := sim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	index := indexservertest.Start(t)
	options := subscriber.NewOptions()
	options.EngineEndpoint, options.EngineReplayEndpoint = engine.EventsEndpoint(), engine.ReplayEndpoint()
	options.EngineMetricsURL = engine.MetricsURL()
	options.HashScheme = engine.Config().Engine
	options.Server, options.TokenFile, options.CAFile = index.Address, index.TokenFile, index.CAFile
	options.ReplicaID, options.TenantID, options.ModelID = pod, namespace, model
	options.Window = time.Millisecond
	options.MetricsBindAddress = "127.0.0.1:0"
	for _, change := range change {
		change(options)
	}
	s, err := subscriber.New(*options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return &loop{
		t: t, engine: engine, load: sim.NewWorkload(load),
		lookups: pb.NewInferenceCacheClient(index.Dial(t)), metrics: s.Address(),
	}
}

// await waits until the index knows all that the engine has said.
func (l *loop) await() {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), patience)
	defer cancel()
	to := progress.Point{Sequence: int64(l.engine.Messages()) - 1, Restarts: l.restarts}
	if err := progress.Await(ctx, l.metrics, to); err != nil {
		l.t.Fatal(err)
	}
}

// predict asks the index. The answer is sure if it is the engine's own number and
// not a bound, as that about a degraded engine is.
func (l *loop) predict(r sim.Request) (tokens int, sure bool) {
	l.t.Helper()
	response, err := l.lookups.LookupRoute(l.t.Context(), &pb.LookupRouteRequest{
		ModelId: model, TenantId: namespace, TokenIds: r.Tokens, AdapterId: r.Adapter, CacheSalt: r.Salt,
	})
	if err != nil {
		l.t.Fatal(err)
	}
	for _, replica := range response.GetReplicaScores() {
		if replica.GetPod() == pod {
			return int(replica.GetMatchedTokens()), replica.GetExact()
		}
	}
	return 0, true
}

// next makes the next request of the load. Some prompts end on a block border,
// and some come under an adapter.
func (l *loop) next(turn int, adapters bool) (int, sim.Request) {
	conversation, r := l.load.Next()
	if turn%5 == 0 {
		r.Tokens = r.Tokens[:max(1, len(r.Tokens)/16*16)]
	}
	if adapters && conversation%4 == 0 {
		r.Adapter = "lora-" + string(rune('a'+conversation/4))
	}
	return conversation, r
}

// serve lets the engine run a request.
func (l *loop) serve(conversation int, r sim.Request) int {
	l.t.Helper()
	response, err := l.engine.Request(l.t.Context(), r)
	if err != nil {
		l.t.Fatal(err)
	}
	l.load.Answer(conversation, response.OutputTokens)
	return response.CachedTokens
}

// compare predicts a request, runs it, and fails if the two differ. A lower
// answer is right if it is said to be a bound and bounds are expected.
func (l *loop) compare(turn, conversation int, r sim.Request, bounds bool) {
	l.t.Helper()
	l.await()
	tokens, sure := l.predict(r)
	reused := l.serve(conversation, r)
	l.compared++
	switch {
	case tokens == reused:
	case tokens < reused && !sure && bounds:
		l.lower++
	default:
		l.t.Fatalf("turn %d: %d of %d tokens promised (sure: %t), the engine reused %d", turn, tokens, len(r.Tokens), sure, reused)
	}
}

func TestLoads(t *testing.T) {
	hybrid := []sim.Group{{Window: 40}, {Window: 40}, {}}
	tests := map[string]struct {
		cfg      sim.Config
		salted   int
		adapters bool
		// bounds and adapterBounds: answers, or only those under an adapter, may be
		// lower than the truth.
		bounds, adapterBounds bool
		// loadedOnce is what the subscriber is promised.
		loadedOnce bool
	}{
		"vllm 0.9.2":          {cfg: sim.Config{Version: "0.9.2"}},
		"vllm 0.11.2":         {cfg: sim.Config{Version: "0.11.2"}},
		"vllm 0.22.1":         {cfg: sim.Config{Version: "0.22.1"}, salted: 30, adapters: true},
		"vllm 0.24.0":         {cfg: sim.Config{Version: "0.24.0"}, salted: 30, adapters: true},
		"vllm 0.32.0":         {salted: 30, adapters: true},
		"vllm 0.32.0 digests": {cfg: sim.Config{HashBytes: true}, salted: 30, adapters: true},
		"vllm 0.32.0 small":   {cfg: sim.Config{Blocks: 64}, salted: 30},
		"vllm 0.32.0 hybrid":  {cfg: sim.Config{Groups: hybrid, Blocks: 400}, salted: 30, adapters: true},
		"window only":         {cfg: sim.Config{Groups: []sim.Group{{Window: 100}}}, salted: 30, bounds: true},
		"sglang 0.5.9":        {cfg: sim.Config{Engine: sim.SGLang, Version: "0.5.9"}},
		"sglang 0.5.16":       {cfg: sim.Config{Engine: sim.SGLang, Version: "0.5.16"}},
		"sglang 0.5.19":       {cfg: sim.Config{Engine: sim.SGLang, Version: "0.5.19"}, salted: 30},
		"sglang 0.5.20":       {cfg: sim.Config{Engine: sim.SGLang, Version: "0.5.20"}, salted: 30},
		"sglang 0.5.23":       {cfg: sim.Config{Engine: sim.SGLang}, salted: 30, adapters: true, adapterBounds: true},
		"sglang 0.5.23 once":  {cfg: sim.Config{Engine: sim.SGLang}, salted: 30, adapters: true, loadedOnce: true},
		"sglang 0.5.23 token": {cfg: sim.Config{Engine: sim.SGLang, BlockSize: 1, Blocks: 3000}, salted: 30},
		"sglang 0.5.23 host":  {cfg: sim.Config{Engine: sim.SGLang, Blocks: 128, HostBlocks: 256}, salted: 30},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := start(t, test.cfg, sim.WorkloadConfig{Seed: 3, MaxTokens: 500, Salted: test.salted}, func(o *subscriber.Options) {
				o.AdaptersLoadedOnce = test.loadedOnce
			})
			for turn := range 100 {
				conversation, r := l.next(turn, test.adapters)
				l.compare(turn, conversation, r, test.bounds || test.adapterBounds && r.Adapter != "")
			}
			if expected := test.bounds || test.adapterBounds; expected != (l.lower > 0) {
				t.Errorf("%d answers were lower bounds, expected: %t", l.lower, expected)
			}
			t.Logf("compared %d answers, %d were lower bounds", l.compared, l.lower)
		})
	}
}
