/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import (
	"path/filepath"
	"slices"
	"testing"

	"inferencecache.io/inference-cache/pkg/kvevents"
	"inferencecache.io/inference-cache/test/captures"
)

// outcome counts how predictions compare with the engine's own answers.
type outcome struct {
	// Equal are right, Bounds lower and said to be inexact.
	Equal, Bounds int
	// Excluded are those that events cannot tell.
	Excluded int
}

// TestPrediction asks, before every recorded request, how much of it the engine
// will reuse, from nothing but the events published until then.
func TestPrediction(t *testing.T) {
	tests := map[string]struct {
		engine Engine
		// scenarios are processes of their own; without them the folder is one.
		scenarios []string
		want      outcome
	}{
		"vllm/0.9.2":              {engine: VLLM, want: outcome{Equal: 130, Excluded: 4}},
		"vllm/0.11.2":             {engine: VLLM, want: outcome{Equal: 130, Excluded: 4}},
		"vllm/0.22.1":             {engine: VLLM, want: outcome{Equal: 106, Excluded: 1}},
		"vllm/0.32.0":             {engine: VLLM, want: outcome{Equal: 89, Excluded: 9}},
		"vllm/0.32.0-bytes":       {engine: VLLM, want: outcome{Equal: 76, Excluded: 1}},
		"vllm/0.32.0-copies":      {engine: VLLM, want: outcome{Equal: 39}},
		"vllm/0.32.0-lora":        {engine: VLLM, want: outcome{Equal: 4}},
		"vllm/0.32.0-hybrid":      {engine: VLLM, want: outcome{Equal: 73, Excluded: 8}},
		"vllm/0.32.0-window-only": {engine: VLLM, want: outcome{Equal: 141, Bounds: 4}},
		"sglang/0.5.16":           {engine: SGLang, scenarios: []string{"p1-basic"}, want: outcome{Equal: 25}},
		"sglang/0.5.19":           {engine: SGLang, scenarios: []string{"p1-basic"}, want: outcome{Equal: 30, Excluded: 2}},
		"sglang/0.5.20":           {engine: SGLang, scenarios: []string{"p1-basic"}, want: outcome{Equal: 33, Excluded: 2}},
		"sglang/0.5.23": {
			engine:    SGLang,
			scenarios: []string{"p1-basic", "p16-basic", "p16-dynamo-lora", "p16-hicache-wt", "p16-salt", "p64-evict"},
			want:      outcome{Equal: 102, Bounds: 1, Excluded: 16},
		},
	}
	compared := 0
	for dir, tc := range tests {
		t.Run(dir, func(t *testing.T) {
			var got outcome
			for _, recording := range load(t, dir, tc.scenarios) {
				predict(t, recording, New(Options{Engine: tc.engine}), &got)
			}
			if got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
			compared += got.Equal + got.Bounds
		})
	}
	t.Logf("%d requests compared", compared)
}

// TestTrees compares with what the trees of SGLang held when their classes were
// driven directly. A tree, other than a request, matches whole prompts.
func TestTrees(t *testing.T) {
	for dir, scenarios := range map[string][]string{
		"sglang/0.5.9":  {"p1-basic", "p1-evict", "p16-basic", "p16-dp-rank1"},
		"sglang/0.5.19": {"p16-basic", "p16-dp-rank1"},
		"sglang/0.5.20": {"p16-basic", "p16-dp-rank1"},
	} {
		for _, recording := range load(t, dir, scenarios) {
			m, h, compared := New(Options{Engine: SGLang}), newHolder(), 0
			var decoder kvevents.Decoder
			next := 0
			for i, request := range recording.Requests {
				for ; next < recording.FramesBefore(i); next++ {
					play(t, &decoder, recording.Frames[next], m, h)
				}
				if request.TreeTokens == nil {
					continue
				}
				compared++
				tokens, exact := h.lookup(prompt{salt: request.CacheSalt, tokens: append(slices.Clone(request.Prompt), 1)})
				if tokens != *request.TreeTokens || !exact {
					t.Errorf("%s/%s, operation %d: %d tokens (exact %v), the tree held %d", dir, request.Scenario, i, tokens, exact, *request.TreeTokens)
				}
			}
			if compared == 0 {
				t.Errorf("%s: nothing compared", dir)
			}
		}
	}
}

func load(t *testing.T, dir string, scenarios []string) []*captures.Recording {
	t.Helper()
	if len(scenarios) == 0 {
		recording, err := captures.LoadProcess(dir)
		if err != nil {
			t.Fatal(err)
		}
		return []*captures.Recording{recording}
	}
	var recordings []*captures.Recording
	for _, scenario := range scenarios {
		recording, err := captures.Load(dir, scenario)
		if err != nil {
			t.Fatal(err)
		}
		recordings = append(recordings, recording)
	}
	return recordings
}

// predict plays one recorded process.
func predict(t *testing.T, recording *captures.Recording, m *Mirror, got *outcome) {
	t.Helper()
	h := newHolder()
	var decoder kvevents.Decoder
	exceptions := exceptionsOf(recording)
	next := 0
	for i, request := range recording.Requests {
		for ; next < recording.FramesBefore(i); next++ {
			play(t, &decoder, recording.Frames[next], m, h)
		}
		switch {
		case request.Op != captures.OpGenerate || request.CachedTokens == nil:
			continue
		case exceptions[i] != "":
			got.Excluded++
			continue
		}
		tokens, exact := h.lookup(prompt{adapter: request.Adapter, salt: request.CacheSalt, tokens: request.Prompt})
		switch want := *request.CachedTokens; {
		case tokens == want:
			got.Equal++
		case tokens < want && !exact:
			got.Bounds++
		default:
			t.Errorf("%s, request %d of %d tokens: %d predicted (exact %v), the engine reused %d",
				filepath.Join(recording.Version, request.Scenario), i, len(request.Prompt), tokens, exact, want)
		}
	}
}

// play applies one recorded message to a mirror and what it says to a holder.
func play(t *testing.T, decoder *kvevents.Decoder, frame captures.Frame, m *Mirror, h *holder) {
	t.Helper()
	message, err := kvevents.ParseMessage(frame.Frames)
	if err != nil {
		t.Fatal(err)
	}
	batch, err := decoder.Decode(message.Payload)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.apply(m.Apply(batch)); err != nil {
		t.Fatalf("message %d: %v", frame.Sequence(), err)
	}
}

// exceptionsOf returns the requests whose answer events cannot tell, and why.
func exceptionsOf(recording *captures.Recording) map[int]string {
	exceptions := map[int]string{}
	reset := false
	salts := recording.Version != "0.9.2" && recording.Version != "0.11.2"
	for i, request := range recording.Requests {
		switch {
		case request.Op == captures.OpReset:
			// vLLM publishes a reset with the step after it.
			reset = recording.Engine == "vllm"
			continue
		case request.Op != captures.OpGenerate:
			continue
		case request.Concurrent:
			exceptions[i] = "concurrent"
		case reset:
			exceptions[i] = "after a reset"
		case request.CacheSalt != "" && !salts:
			exceptions[i] = "salts are not announced"
		case request.ExtraKey != "":
			exceptions[i] = "extra_key is not announced"
		}
		reset = false
	}
	return exceptions
}
