/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vmihailenco/msgpack/v5"

	"inferencecache.io/inference-cache/pkg/kvevents"
	"inferencecache.io/inference-cache/test/captures"
)

// recorded is a run of a real engine that the simulator repeats.
type recorded struct {
	dir string
	// scenario is the only one of the folder; empty for the whole process.
	scenario string
	cfg      Config
	// warmUp repeats the request that SGLang sends itself at its start, which is
	// not in the log.
	warmUp bool
	// answersOnly leaves the published messages out of the comparison, for runs
	// with requests side by side, whose stores share messages, and for the host
	// tier, where the engine announces a page again that it loads back.
	answersOnly bool
}

// recordedRuns are the recordings with an order of requests that one after the
// other can repeat. The sizes are those with which the engines ran.
func recordedRuns() map[string]recorded {
	hybrid := []Group{{Window: 64}, {Window: 64}, {}}
	return map[string]recorded{
		"vllm 0.9.2":              {dir: "vllm/0.9.2", cfg: Config{BlockSize: 16, Blocks: 59}},
		"vllm 0.11.2":             {dir: "vllm/0.11.2", cfg: Config{BlockSize: 16, Blocks: 59}},
		"vllm 0.22.1":             {dir: "vllm/0.22.1", cfg: Config{BlockSize: 32, Blocks: 47}},
		"vllm 0.32.0":             {dir: "vllm/0.32.0", cfg: Config{BlockSize: 32, Blocks: 47}},
		"vllm 0.32.0 bytes":       {dir: "vllm/0.32.0-bytes", cfg: Config{BlockSize: 32, Blocks: 47, HashBytes: true}},
		"vllm 0.32.0 copies":      {dir: "vllm/0.32.0-copies", cfg: Config{BlockSize: 32, Blocks: 39}},
		"vllm 0.32.0 lora":        {dir: "vllm/0.32.0-lora", cfg: Config{BlockSize: 32, Blocks: 47}},
		"vllm 0.32.0 hybrid":      {dir: "vllm/0.32.0-hybrid", cfg: Config{BlockSize: 32, Blocks: 71, Groups: hybrid}},
		"vllm 0.32.0 window only": {dir: "vllm/0.32.0-window-only", cfg: Config{BlockSize: 32, Blocks: 47, Groups: []Group{{Window: 96}}}},
		"sglang 0.5.16":           {dir: "sglang/0.5.16", scenario: "p1-basic", cfg: Config{BlockSize: 1, Blocks: 400}, warmUp: true},
		"sglang 0.5.19":           {dir: "sglang/0.5.19", scenario: "p1-basic", cfg: Config{BlockSize: 1, Blocks: 400}, warmUp: true},
		"sglang 0.5.20":           {dir: "sglang/0.5.20", scenario: "p1-basic", cfg: Config{BlockSize: 1, Blocks: 400}, warmUp: true},
		"sglang 0.5.23 p1":        {dir: "sglang/0.5.23", scenario: "p1-basic", cfg: Config{BlockSize: 1, Blocks: 2048}, warmUp: true, answersOnly: true},
		"sglang 0.5.23 p16":       {dir: "sglang/0.5.23", scenario: "p16-basic", cfg: Config{BlockSize: 16, Blocks: 128}, answersOnly: true},
		"sglang 0.5.23 salt":      {dir: "sglang/0.5.23", scenario: "p16-salt", cfg: Config{BlockSize: 16, Blocks: 128}},
		"sglang 0.5.23 evict":     {dir: "sglang/0.5.23", scenario: "p64-evict", cfg: Config{BlockSize: 64, Blocks: 32}},
		"sglang 0.5.23 hicache":   {dir: "sglang/0.5.23", scenario: "p16-hicache-wt", cfg: Config{BlockSize: 16, Blocks: 32, HostBlocks: 65}, answersOnly: true},
	}
}

// TestRepeatsRealEngines feeds the requests that real engines got and expects
// the reuse that they had, and the messages that they published.
func TestRepeatsRealEngines(t *testing.T) {
	for name, run := range recordedRuns() {
		t.Run(name, func(t *testing.T) {
			recording := loadRun(t, run)
			cfg := run.cfg
			cfg.Engine = recording.Engine
			cfg.Version, _, _ = strings.Cut(recording.Version, "-")
			e := newEngine(t, cfg)
			if run.warmUp {
				warmUp := Request{Tokens: []uint32{10, 11, 12}, Output: []uint32{18, 12, 18, 12, 18, 12, 18, 0}}
				if _, err := e.Request(t.Context(), warmUp); err != nil {
					t.Fatal(err)
				}
			}
			repeat(t, e, recording)
			if !run.answersOnly {
				compareMessages(t, e, recording)
			}
		})
	}
}

// loadRun reads a recording without the requests that ran side by side.
func loadRun(t *testing.T, run recorded) *captures.Recording {
	t.Helper()
	load := func() (*captures.Recording, error) { return captures.LoadProcess(run.dir) }
	if run.scenario != "" {
		load = func() (*captures.Recording, error) { return captures.Load(run.dir, run.scenario) }
	}
	recording, err := load()
	if err != nil {
		t.Fatal(err)
	}
	recording.Requests = slices.DeleteFunc(recording.Requests, func(r captures.Request) bool { return r.Scenario == "parallel" })
	recording.Frames = slices.DeleteFunc(recording.Frames, func(f captures.Frame) bool { return f.Scenario == "parallel" })
	return recording
}

func repeat(t *testing.T, e *Engine, recording *captures.Recording) {
	t.Helper()
	compared := 0
	for i, r := range recording.Requests {
		if r.Op == captures.OpReset {
			if err := e.ResetPrefixCache(); err != nil {
				t.Fatal(err)
			}
		}
		if r.CachedTokens == nil {
			continue
		}
		got, err := e.Request(t.Context(), Request{
			Tokens: r.Prompt, Output: r.OutputTokens, Adapter: r.Adapter, Salt: r.CacheSalt, ExtraKey: r.ExtraKey, Session: r.SessionID,
		})
		if err != nil {
			t.Fatal(err)
		}
		if got.CachedTokens != *r.CachedTokens {
			t.Errorf("request %d of %d tokens reused %d, the engine %d", i, len(r.Prompt), got.CachedTokens, *r.CachedTokens)
		}
		compared++
	}
	if compared == 0 {
		t.Error("nothing was compared")
	}
	t.Logf("compared %d answers", compared)
}

// compareMessages holds what was published to the recording, value by value. Of
// the hashes it needs only that they are equal where the recorded ones are.
func compareMessages(t *testing.T, e *Engine, recording *captures.Recording) {
	t.Helper()
	var got, want []any
	names := renamer{}
	for _, payload := range published(t, e) {
		got = append(got, names.batch(t, payload))
	}
	names = renamer{}
	for _, frame := range recording.Frames {
		want = append(want, names.batch(t, frame.Frames[2]))
	}
	// SGLang clears its cache before a recorder can have subscribed.
	same := min(len(got), len(want))
	got, want = got[len(got)-same:], want[len(want)-same:]
	for i := range want {
		if diff := cmp.Diff(want[i], got[i]); diff != "" {
			t.Fatalf("message %d (-recorded +simulated):\n%s", i, diff)
		}
	}
	t.Logf("compared %d messages", len(want))
}

// published returns the payloads of all messages, in order.
func published(t *testing.T, e *Engine) [][]byte {
	t.Helper()
	var payloads [][]byte
	_, err := kvevents.Replay(t.Context(), e.ReplayEndpoint(), 0, kvevents.ReplayOptions{}, func(m kvevents.Message) error {
		payloads = append(payloads, bytes.Clone(m.Payload))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return payloads
}

// renamer gives hashes the number of their first appearance.
type renamer map[string]string

func (n renamer) name(hash any) any {
	if hash == nil {
		return nil
	}
	key := fmt.Sprint(hash)
	if n[key] == "" {
		n[key] = "hash " + strconv.Itoa(len(n))
	}
	return n[key]
}

// batch decodes a payload without its time.
func (n renamer) batch(t *testing.T, payload []byte) []any {
	t.Helper()
	var batch []any
	if err := msgpack.Unmarshal(payload, &batch); err != nil {
		t.Fatal(err)
	}
	events := batch[1].([]any)
	for _, e := range events {
		switch e := e.(type) {
		case []any:
			if len(e) > 1 {
				e[1] = n.names(e[1])
			}
			if e[0] == "BlockStored" {
				e[2] = n.name(e[2])
			}
		case map[string]any:
			if e["block_hashes"] != nil {
				e["block_hashes"] = n.names(e["block_hashes"])
			}
			if e["type"] == "BlockStored" {
				e["parent_block_hash"] = n.name(e["parent_block_hash"])
			}
		}
	}
	return batch[1:]
}

func (n renamer) names(list any) []any {
	out := []any{}
	for _, hash := range list.([]any) {
		out = append(out, n.name(hash))
	}
	return out
}

func newEngine(t *testing.T, cfg Config) *Engine {
	t.Helper()
	e, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}
