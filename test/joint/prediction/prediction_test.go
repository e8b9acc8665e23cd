/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package prediction

import (
	"slices"
	"testing"

	"inferencecache.io/inference-cache/pkg/indexserver/indexservertest"
	"inferencecache.io/inference-cache/test/captures"
)

// TestPrediction plays every recording with answers that can be compared. What is
// missing here: vLLM's connectors, whose answers include what a second cache
// loaded, and its two ranks, of which it is not known who ran what.
func TestPrediction(t *testing.T) {
	tests := map[string]struct {
		// scenarios are processes of their own; without them the folder is one.
		scenarios []string
		want      outcome
	}{
		"vllm/0.9.2":              {want: outcome{Equal: 130, Excluded: 4}},
		"vllm/0.11.2":             {want: outcome{Equal: 130, Excluded: 4}},
		"vllm/0.22.1":             {want: outcome{Equal: 106, Excluded: 1}},
		"vllm/0.32.0":             {want: outcome{Equal: 89, Excluded: 9}},
		"vllm/0.32.0-bytes":       {want: outcome{Equal: 76, Excluded: 1}},
		"vllm/0.32.0-copies":      {want: outcome{Equal: 39}},
		"vllm/0.32.0-lora":        {want: outcome{Equal: 4}},
		"vllm/0.32.0-hybrid":      {want: outcome{Equal: 73, Excluded: 8}},
		"vllm/0.32.0-window-only": {want: outcome{Equal: 141, Bounds: 4}},
		"sglang/0.5.16":           {scenarios: []string{"p1-basic"}, want: outcome{Equal: 25}},
		"sglang/0.5.19":           {scenarios: []string{"p1-basic"}, want: outcome{Equal: 30, Excluded: 2}},
		"sglang/0.5.20":           {scenarios: []string{"p1-basic"}, want: outcome{Equal: 33, Excluded: 2}},
		"sglang/0.5.23": {
			scenarios: []string{"p1-basic", "p16-basic", "p16-dp2", "p16-dynamo-lora", "p16-hicache-wt", "p16-salt", "p64-evict"},
			want:      outcome{Equal: 111, Bounds: 1, Excluded: 16},
		},
	}
	server := indexservertest.Start(t)
	client := server.Client(t)
	compared := 0
	for dir, test := range tests {
		t.Run(dir, func(t *testing.T) {
			var got outcome
			scenarios := test.scenarios
			if scenarios == nil {
				scenarios = []string{""}
			}
			for _, scenario := range scenarios {
				model := podName(dir, scenario)
				var ranks []*rank
				for i, recording := range load(t, dir, scenario) {
					ranks = append(ranks, newRank(t, server, recording, model, podName(dir, scenario, []string{"a", "b"}[i])))
				}
				one := play(t, client, model, ranks...)
				got.Equal, got.Bounds, got.Excluded = got.Equal+one.Equal, got.Bounds+one.Bounds, got.Excluded+one.Excluded
			}
			t.Logf("%d answers compared: %d equal, %d lower and called inexact; %d requests excluded",
				got.compared(), got.Equal, got.Bounds, got.Excluded)
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
			compared += got.compared()
		})
	}
	t.Logf("%d answers compared in all", compared)
}

// load returns the recordings of the ranks of one engine.
func load(t *testing.T, dir, scenario string) []*captures.Recording {
	t.Helper()
	one := func(r *captures.Recording, err error) *captures.Recording {
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if scenario == "" {
		return []*captures.Recording{one(captures.LoadProcess(dir))}
	}
	recordings := []*captures.Recording{one(captures.Load(dir, scenario))}
	all, err := captures.Scenarios(dir)
	if err != nil {
		t.Fatal(err)
	}
	if second := scenario + "-rank1"; slices.Contains(all, second) {
		recordings = append(recordings, one(captures.Load(dir, second)))
	}
	return recordings
}
