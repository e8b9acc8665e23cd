/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/pkg/kvevents"
	"inferencecache.io/inference-cache/pkg/zmtp"
)

func prompt(tokens int) []uint32 {
	out := make([]uint32, tokens)
	for i := range out {
		out[i] = uint32(i)
	}
	return out
}

func ask(t *testing.T, e *Engine, r Request) Response {
	t.Helper()
	response, err := e.Request(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

func TestSeedDecidesEverything(t *testing.T) {
	for _, engine := range []string{VLLM, SGLang} {
		t.Run(engine, func(t *testing.T) {
			run := func() [][]byte {
				clock := time.Unix(1, 0)
				e := newEngine(t, Config{Engine: engine, Seed: 7, Now: func() time.Time { return clock }})
				w := NewWorkload(WorkloadConfig{Seed: 7, Salted: 20})
				for range 50 {
					id, request := w.Next()
					w.Answer(id, ask(t, e, request).OutputTokens)
				}
				return published(t, e)
			}
			if !slices.EqualFunc(run(), run(), bytes.Equal) {
				t.Error("two runs with one seed differ")
			}
		})
	}
}

func TestWholePromptIsNeverReused(t *testing.T) {
	for _, engine := range []string{VLLM, SGLang} {
		t.Run(engine, func(t *testing.T) {
			e := newEngine(t, Config{Engine: engine})
			for _, want := range []int{0, 48, 48} {
				if got := ask(t, e, Request{Tokens: prompt(64)}); got.CachedTokens != want {
					t.Errorf("reused %d tokens, want %d", got.CachedTokens, want)
				}
			}
		})
	}
}

func TestSeparation(t *testing.T) {
	requests := map[string]Request{
		"salt":    {Tokens: prompt(65), Salt: "a"},
		"adapter": {Tokens: prompt(65), Adapter: "lora"},
		"key":     {Tokens: prompt(65), ExtraKey: "k"},
	}
	for name, request := range requests {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, Config{Engine: SGLang})
			ask(t, e, Request{Tokens: prompt(65)})
			for _, want := range []int{0, 64} {
				if got := ask(t, e, request); got.CachedTokens != want {
					t.Errorf("reused %d tokens, want %d", got.CachedTokens, want)
				}
			}
		})
	}
}

func TestRestart(t *testing.T) {
	e := newEngine(t, Config{})
	ask(t, e, Request{Tokens: prompt(65)})
	before := e.Config()
	first := published(t, e)
	if err := e.Restart(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before.EventsAddress+before.ReplayAddress, e.Config().EventsAddress+e.Config().ReplayAddress); diff != "" {
		t.Errorf("addresses changed:\n%s", diff)
	}
	if e.Messages() != 0 {
		t.Errorf("%d messages after the restart", e.Messages())
	}
	if got := ask(t, e, Request{Tokens: prompt(65)}); got.CachedTokens != 0 {
		t.Errorf("%d tokens survived the restart", got.CachedTokens)
	}
	second := published(t, e)
	if len(second) != 1 || cmp.Equal(first, second) {
		t.Errorf("the restarted engine published %d messages, with the hashes of before: %t", len(second), cmp.Equal(first, second))
	}
}

func TestReset(t *testing.T) {
	tests := map[string]struct {
		engine   string
		messages uint64
	}{
		"vllm announces with the next step": {engine: VLLM, messages: 1},
		"sglang announces at once":          {engine: SGLang, messages: 3},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, Config{Engine: test.engine})
			ask(t, e, Request{Tokens: prompt(65)})
			if err := e.ResetPrefixCache(); err != nil {
				t.Fatal(err)
			}
			if e.Messages() != test.messages {
				t.Errorf("%d messages after the reset, want %d", e.Messages(), test.messages)
			}
			if got := ask(t, e, Request{Tokens: prompt(65)}); got.CachedTokens != 0 {
				t.Errorf("%d tokens survived the reset", got.CachedTokens)
			}
		})
	}
}

func TestLostMessages(t *testing.T) {
	e := newEngine(t, Config{})
	sub, err := kvevents.Subscribe(t.Context(), e.EventsEndpoint(), "", zmtp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sub.Close() })
	if err := e.WaitSubscribed(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.DropLive(1)
	ask(t, e, Request{Tokens: prompt(16)})
	e.Lose(1)
	ask(t, e, Request{Tokens: prompt(32)[1:]})
	ask(t, e, Request{Tokens: prompt(32)[2:]})
	m, err := sub.Next()
	if err != nil {
		t.Fatal(err)
	}
	if m.Sequence != 2 {
		t.Errorf("first live message has sequence %d, want 2", m.Sequence)
	}
	if got := len(published(t, e)); got != 1 {
		t.Errorf("replay gives %d messages before the hole, want 1", got)
	}
}

func TestRefusals(t *testing.T) {
	e := newEngine(t, Config{Blocks: 4})
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Request(cancelled, Request{Tokens: prompt(1)}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled context gives %v", err)
	}
	if _, err := e.Request(t.Context(), Request{Tokens: prompt(64)}); !errors.Is(err, ErrTooLong) {
		t.Errorf("a prompt larger than the cache gives %v", err)
	}
	if _, err := e.Request(t.Context(), Request{}); err == nil {
		t.Error("an empty prompt is accepted")
	}
}

func TestConfigErrors(t *testing.T) {
	tests := map[string]struct {
		cfg  Config
		want string
	}{
		"engine":         {Config{Engine: "other"}, "unknown engine"},
		"old version":    {Config{Version: "0.8.5"}, "older"},
		"not a version":  {Config{Version: "main"}, "want two or three numbers"},
		"not a number":   {Config{Version: "0.x"}, "invalid syntax"},
		"sglang groups":  {Config{Engine: SGLang, Groups: []Group{{Window: 64}}}, "vLLM's"},
		"vllm host tier": {Config{HostBlocks: 1}, "SGLang's"},
		"window":         {Config{Groups: []Group{{Window: 1}}}, "at least 2"},
		"negative":       {Config{Blocks: -1}, "not negative"},
		"address":        {Config{EventsAddress: "127.0.0.1:none"}, "bind event socket"},
		"metrics":        {Config{MetricsAddress: "127.0.0.1:none"}, "bind metrics"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := New(test.cfg); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestMetrics(t *testing.T) {
	tests := map[string]struct {
		cfg  Config
		want []string
	}{
		VLLM: {Config{}, []string{
			`vllm:prefix_cache_queries_total{engine="0",model_name="tiny-llama"} 130`,
			`vllm:prefix_cache_hits_total{engine="0",model_name="tiny-llama"} 64`,
			`vllm:num_requests_running{engine="0",model_name="tiny-llama"} 3`,
			`vllm:num_requests_waiting{engine="0",model_name="tiny-llama"} 2`,
			`vllm:kv_cache_usage_perc{engine="0",model_name="tiny-llama"} 0`,
			`vllm:cache_config_info{block_size="16",engine="0",num_gpu_blocks="257"} 1`,
		}},
		SGLang: {Config{Engine: SGLang, HostBlocks: 8}, []string{
			`sglang:cached_tokens_total{cache_source="device",engine_type="unified",model_name="tiny-llama",moe_ep_rank="0",pp_rank="0",tp_rank="0"} 64`,
			`sglang:num_queue_reqs{engine_type="unified",model_name="tiny-llama",moe_ep_rank="0",pp_rank="0",tp_rank="0"} 2`,
			`sglang:kv_evictable_tokens{engine_type="unified",model_name="tiny-llama",moe_ep_rank="0",pp_rank="0",tp_rank="0"} 64`,
			`sglang:hicache_host_used_tokens{engine_type="unified",model_name="tiny-llama",moe_ep_rank="0",pp_rank="0",tp_rank="0"} 64`,
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, test.cfg)
			ask(t, e, Request{Tokens: prompt(65)})
			ask(t, e, Request{Tokens: prompt(65)})
			e.SetLoad(3, 2)
			body := get(t, e.MetricsURL())
			for _, line := range test.want {
				if !strings.Contains(body, line+"\n") {
					t.Errorf("no line %q in\n%s", line, body)
				}
			}
		})
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
