/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package subscriber_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/indexserver/indexservertest"
	"inferencecache.io/inference-cache/pkg/subscriber"
	"inferencecache.io/inference-cache/test/engine/sim"
)

// TestEnginesInTrouble runs simulated engines under load and lets them restart,
// reset, withhold messages and lose them. Whenever the stream is quiet, what the
// index says of the next request is what the engine then reuses, or, after a real
// loss, a lower bound that says so.
func TestEnginesInTrouble(t *testing.T) {
	const window = 40
	tests := map[string]struct {
		config sim.Config
		// exact is the least share of right answers in percent. Where no group
		// keeps whole prefixes, long prompts leave positions open.
		exact int
	}{
		"vLLM":                {sim.Config{Blocks: 60}, 60},
		"vLLM, arrays":        {sim.Config{Version: "0.22.1", Blocks: 60}, 60},
		"vLLM, hybrid":        {sim.Config{Blocks: 150, Groups: []sim.Group{{Window: window}, {Window: window}, {}}}, 60},
		"vLLM, only a window": {sim.Config{Blocks: 60, Groups: []sim.Group{{Window: window}}}, 25},
		"SGLang":              {sim.Config{Engine: sim.SGLang, Blocks: 60}, 60},
		"SGLang, host tier":   {sim.Config{Engine: sim.SGLang, Blocks: 60, HostBlocks: 90}, 60},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			engine, err := sim.New(tc.config)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = engine.Close() })
			run := &troubled{
				engine: engine, load: sim.NewWorkload(sim.WorkloadConfig{Salted: 20, MaxTokens: 300}),
				server: indexservertest.Start(t), random: rand.New(rand.NewPCG(1, 2)),
			}
			run.client = run.server.Client(t)
			run.subscriber = start(t, engine.Config().Engine, engine, run.server)
			for range 120 {
				run.step(t)
			}
			t.Logf("%d requests compared, %d of them bounds", run.compared, run.bounds)
			if exact := 100 * (run.compared - run.bounds) / run.compared; run.compared < 60 || exact < tc.exact {
				t.Errorf("%d%% exact, want at least %d%%", exact, tc.exact)
			}
		})
	}
}

// troubled is an engine under load with everything behind it.
type troubled struct {
	engine     *sim.Engine
	load       *sim.Workload
	server     *indexservertest.Instance
	subscriber *subscriber.Subscriber
	client     pb.InferenceCacheClient
	random     *rand.Rand
	// blind: the index cannot know what the engine has done last.
	blind            bool
	compared, bounds int
}

// step lets something happen and then runs one request.
func (r *troubled) step(t *testing.T) {
	t.Helper()
	wasBlind := r.blind
	r.blind = false
	switch choice := r.random.IntN(40); {
	case choice < 3:
		r.engine.DropLive(1)
		r.blind = true
	case choice == 3:
		r.engine.Lose(1)
		r.blind = true
	case choice == 4:
		if err := r.engine.ResetPrefixCache(); err != nil {
			t.Fatal(err)
		}
		// vLLM says so with its next step only.
		wasBlind = wasBlind || r.engine.Config().Engine == sim.VLLM
	case choice == 5:
		if err := r.engine.Restart(); err != nil {
			t.Fatal(err)
		}
		// An engine that has said nothing yet cannot be seen to be new.
		wasBlind = true
	}
	conversation, request := r.load.Next()
	if !wasBlind {
		r.awaitQuiet(t)
	}
	answer, err := r.client.LookupRoute(t.Context(), &pb.LookupRouteRequest{
		ModelId: "tiny-llama", TenantId: "team-a", TokenIds: request.Tokens, CacheSalt: request.Salt,
	})
	if err != nil {
		t.Fatal(err)
	}
	response, err := r.engine.Request(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	r.load.Answer(conversation, response.OutputTokens)
	if !wasBlind {
		r.compare(t, answer, response.CachedTokens)
	}
}

func (r *troubled) compare(t *testing.T, answer *pb.LookupRouteResponse, want int) {
	t.Helper()
	got, exact := 0, true
	for _, score := range answer.GetReplicaScores() {
		got, exact = int(score.GetMatchedTokens()), score.GetExact()
	}
	r.compared++
	switch {
	case got == want:
	case got < want && (!exact || r.degraded(t)):
		r.bounds++
	default:
		t.Fatalf("request %d: %d tokens predicted (exact %v), the engine reused %d", r.compared, got, exact, want)
	}
}

// degraded says whether the index has been told that it knows less than all.
func (r *troubled) degraded(t *testing.T) bool {
	t.Helper()
	views, _ := r.server.Index.Holders(r.server.Clock.Now())
	for _, view := range views {
		if !view.Exact() {
			return true
		}
	}
	return false
}

// awaitQuiet waits until everything that the engine has said has arrived.
func (r *troubled) awaitQuiet(t *testing.T) {
	t.Helper()
	messages := r.engine.Messages()
	if messages == 0 {
		return
	}
	page := func() string { return get(t, "http://"+r.subscriber.Address()+"/metrics") }
	// The values of one page are not of one instant: what follows from a message
	// may have been read before the message came.
	indexservertest.Await(t, "the engine's last message", func() bool {
		return series(page(), "engine_sequence") == float64(messages-1)
	})
	indexservertest.Await(t, "quiet", func() bool {
		page := page()
		return series(page, "changes_waiting") == 0 && series(page, "acknowledged_sequence") == series(page, "delta_sequence")
	})
}

// series returns the value of the only series of a metric, -2 when there is none.
func series(page, name string) float64 {
	for line := range strings.Lines(page) {
		if !strings.HasPrefix(line, "inferencecache_subscriber_"+name+"{") {
			continue
		}
		fields := strings.Fields(line)
		if value, err := strconv.ParseFloat(fields[len(fields)-1], 64); err == nil {
			return value
		}
	}
	return -2
}
