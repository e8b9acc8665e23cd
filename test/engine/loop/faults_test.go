/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package loop

import (
	"math/rand/v2"
	"testing"

	"inferencecache.io/inference-cache/test/engine/sim"
)

// faulty is a load under faults.
type faulty struct {
	*loop

	turn int
	// bounds is set once messages are lost for good: from then on answers may be
	// lower than the truth, until the engine clears its cache.
	bounds bool
}

// fault is something that happens to an engine between two requests.
type fault func(*faulty)

// blind serves requests without asking before them, until the engine has
// published so many messages: what is withheld can be noticed only from what
// comes after it.
func (f *faulty) blind(messages uint64) {
	f.t.Helper()
	for until := f.engine.Messages() + messages; f.engine.Messages() < until; f.turn++ {
		f.serve(f.next(f.turn, false))
	}
}

// dropLive loses live messages that a replay still has.
func dropLive(f *faulty) {
	const dropped = 2
	f.engine.DropLive(dropped)
	f.blind(dropped + 1)
}

// lose loses messages for good.
func lose(f *faulty) {
	const lost = 2
	f.engine.Lose(lost)
	f.blind(lost + 1)
	f.bounds = true
}

// restart lets the engine die and start anew. That it has is certain once it has
// said something.
func restart(f *faulty) {
	f.t.Helper()
	if err := f.engine.Restart(); err != nil {
		f.t.Fatal(err)
	}
	f.restarts++
	f.blind(1)
	f.bounds = false
}

// reset clears the engine's cache. vLLM says so with its next step.
func reset(f *faulty) {
	f.t.Helper()
	if err := f.engine.ResetPrefixCache(); err != nil {
		f.t.Fatal(err)
	}
	f.blind(1)
	f.bounds = false
}

func TestFaults(t *testing.T) {
	engines := map[string]sim.Config{
		"vllm 0.11.2": {Version: "0.11.2"},
		"vllm 0.32.0": {},
		"vllm hybrid": {Groups: []sim.Group{{Window: 40}, {}}, Blocks: 400},
		"sglang":      {Engine: sim.SGLang, Blocks: 128, HostBlocks: 256},
	}
	faults := map[string]fault{"live messages dropped": dropLive, "messages lost": lose, "restart": restart, "reset": reset}
	for engine, cfg := range engines {
		for name, fault := range faults {
			t.Run(engine+"/"+name, func(t *testing.T) {
				t.Parallel()
				f := &faulty{loop: start(t, cfg, sim.WorkloadConfig{Seed: 5, MaxTokens: 500})}
				for range 2 {
					f.serveCompared(20)
					fault(f)
				}
				f.serveCompared(20)
			})
		}
	}
}

// TestRandomFaults mixes all of them.
func TestRandomFaults(t *testing.T) {
	for name, cfg := range map[string]sim.Config{
		"vllm":        {},
		"vllm hybrid": {Groups: []sim.Group{{Window: 40}, {}}, Blocks: 400},
		"sglang":      {Engine: sim.SGLang, Blocks: 128, HostBlocks: 256},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(11, 0))
			faults := []fault{dropLive, lose, restart, reset}
			f := &faulty{loop: start(t, cfg, sim.WorkloadConfig{Seed: 6, MaxTokens: 500})}
			for range 8 {
				f.serveCompared(1 + random.IntN(20))
				faults[random.IntN(len(faults))](f)
			}
			f.serveCompared(20)
			t.Logf("compared %d answers, %d were lower bounds", f.compared, f.lower)
		})
	}
}

func (f *faulty) serveCompared(requests int) {
	f.t.Helper()
	for range requests {
		conversation, r := f.next(f.turn, false)
		f.compare(f.turn, conversation, r, f.bounds)
		f.turn++
	}
}
