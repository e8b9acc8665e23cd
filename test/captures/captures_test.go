/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package captures

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// folders returns every recorded engine as Load takes it.
func folders(t *testing.T) []string {
	t.Helper()
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	paths, err := Folders()
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for _, path := range paths {
		rel, err := filepath.Rel(root, path)
		if err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, rel)
	}
	if len(dirs) < 17 {
		t.Fatalf("only %d folders below %s", len(dirs), root)
	}
	return dirs
}

// TestEverythingLoads holds what a player relies on: messages without a gap,
// requests in order, prompts where there are answers.
func TestEverythingLoads(t *testing.T) {
	for _, dir := range folders(t) {
		scenarios, err := Scenarios(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, scenario := range scenarios {
			t.Run(dir+"/"+scenario, func(t *testing.T) {
				r, err := Load(dir, scenario)
				if err != nil {
					t.Fatal(err)
				}
				for i := 1; i < len(r.Frames); i++ {
					if r.Frames[i].Sequence() != r.Frames[i-1].Sequence()+1 {
						t.Errorf("message %d has sequence %d after %d", i, r.Frames[i].Sequence(), r.Frames[i-1].Sequence())
					}
				}
				checkRequests(t, r)
			})
		}
	}
}

func checkRequests(t *testing.T, r *Recording) {
	t.Helper()
	before := 0
	for i, request := range r.Requests {
		n := r.FramesBefore(i)
		if n < before {
			t.Errorf("request %d follows %d messages, the one before it %d", i, n, before)
		}
		before = n
		if request.CachedTokens == nil {
			continue
		}
		if request.Op != OpGenerate || len(request.Prompt) == 0 || request.SentMS == 0 || request.DoneMS < request.SentMS {
			t.Errorf("request %d has an answer but is incomplete: %+v", i, request)
		}
		if got := *request.CachedTokens; got < 0 || got >= len(request.Prompt) {
			t.Errorf("request %d: %d of %d tokens reused", i, got, len(request.Prompt))
		}
	}
}

func TestLoad(t *testing.T) {
	rank := func(n int) *int { return &n }
	tests := map[string]struct {
		dir, scenario string
		index         int
		want          Request
		framesBefore  int
	}{
		"vllm with a salt": {
			dir: "vllm/0.32.0", scenario: "salt", index: 1, framesBefore: 1,
			want: Request{Op: OpGenerate, SentMS: 1796090178295, DoneMS: 1796090178306, CacheSalt: "tenant-a", CachedTokens: rank(0), Status: 200, OutputTokens: []uint32{217}},
		},
		"vllm with an adapter": {
			dir: "vllm/0.32.0-lora", scenario: "lora", index: 3, framesBefore: 3,
			want: Request{Op: OpGenerate, SentMS: 1796091497415, DoneMS: 1796091497495, Adapter: "lora-a", CacheSalt: "s1", CachedTokens: rank(0), Status: 200, OutputTokens: []uint32{217}},
		},
		"vllm that leaves out a zero": {
			dir: "vllm/0.22.1", scenario: "prefix", index: 0, framesBefore: 0,
			want: Request{Op: OpGenerate, SentMS: 1796092063554, DoneMS: 1796092063610, CachedTokens: rank(0), Status: 200, OutputTokens: []uint32{477}},
		},
		"vllm reset": {
			dir: "vllm/0.32.0", scenario: "clear", index: 1, framesBefore: 1,
			want: Request{Op: OpReset, SentMS: 1796090190406, DoneMS: 1796090190410, Status: 200},
		},
		"sglang with an adapter and a salt": {
			dir: "sglang/0.5.23", scenario: "p16-dynamo-lora", index: 4, framesBefore: 4,
			want: Request{Op: OpGenerate, Part: "lora", SentMS: 1796091127754, DoneMS: 1796091127766, Adapter: "lora-a", CacheSalt: "s1", CachedTokens: rank(0), Status: 200, OutputTokens: []uint32{605}},
		},
		"sglang rank": {
			dir: "sglang/0.5.23", scenario: "p16-dp2", index: 3, framesBefore: 2,
			want: Request{Op: OpGenerate, Part: "dp", SentMS: 1796091447318, DoneMS: 1796091447351, Rank: rank(1), CachedTokens: rank(48), Status: 200, OutputTokens: []uint32{156}},
		},
		"sglang in process": {
			dir: "sglang/0.5.9", scenario: "p16-basic", index: 2, framesBefore: 2,
			want: Request{Op: "insert", TreeTokens: rank(80)},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r, err := Load(tc.dir, tc.scenario)
			if err != nil {
				t.Fatal(err)
			}
			tc.want.Model, tc.want.Scenario = BaseModel, tc.scenario
			ignore := cmpopts.IgnoreFields(Request{}, "Prompt", "batches")
			if diff := cmp.Diff(tc.want, r.Requests[tc.index], ignore, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
			if got := r.FramesBefore(tc.index); got != tc.framesBefore {
				t.Errorf("%d messages before the request, want %d", got, tc.framesBefore)
			}
		})
	}
}

func TestLoadProcess(t *testing.T) {
	r, err := LoadProcess("vllm/0.32.0")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Frames) != 100 || len(r.Requests) != 99 || r.Engine != "vllm" || r.Version != "0.32.0" {
		t.Errorf("got %d messages and %d requests of %s %s", len(r.Frames), len(r.Requests), r.Engine, r.Version)
	}
	for i, frame := range r.Frames {
		if frame.Sequence() != uint64(i) {
			t.Fatalf("message %d of %s has sequence %d", i, frame.Scenario, frame.Sequence())
		}
	}
}

func TestConcurrent(t *testing.T) {
	tests := map[string]struct {
		dir, scenario string
		want          int
	}{
		"vllm parallel":     {"vllm/0.32.0", "parallel", 8},
		"vllm one by one":   {"vllm/0.32.0", "mixed", 0},
		"sglang in part":    {"sglang/0.5.23", "p1-basic", 6},
		"sglang in process": {"sglang/0.5.9", "p16-basic", 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r, err := Load(tc.dir, tc.scenario)
			if err != nil {
				t.Fatal(err)
			}
			got := 0
			for _, request := range r.Requests {
				if request.Concurrent {
					got++
				}
			}
			if got != tc.want {
				t.Errorf("%d concurrent requests, want %d", got, tc.want)
			}
		})
	}
}

func TestScenarios(t *testing.T) {
	got, err := Scenarios("vllm/0.22.1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"prefix", "evict", "salt", "twice", "clear", "mixed"}, got); diff != "" {
		t.Errorf("scenarios (-want +got):\n%s", diff)
	}
	if _, err := Scenarios("vllm/0.0.0"); err == nil {
		t.Error("a folder that is not there has scenarios")
	}
}

func TestLoadReplay(t *testing.T) {
	tests := map[string]struct {
		path    string
		socket  string
		start   uint64
		answers int
	}{
		"vllm":           {"vllm/0.22.1/replay_dealer_0.jsonl", "DEALER", 0, 111},
		"sglang from 5":  {"sglang/0.5.23/replay_p1-basic.from5.jsonl", "DEALER", 5, 23},
		"sglang request": {"sglang/0.5.23/replay_p1-basic.req.jsonl", "REQ", 2, 1},
		"beyond the end": {"sglang/0.5.16/replay_p1-basic.beyond.jsonl", "DEALER", 9999, 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r, err := LoadReplay(tc.path)
			if err != nil {
				t.Fatal(err)
			}
			if r.Socket != tc.socket || r.Start != tc.start || len(r.Answers) != tc.answers {
				t.Errorf("got a %s that asks for %d and gets %d answers", r.Socket, r.Start, len(r.Answers))
			}
		})
	}
}

func TestLoadDecoded(t *testing.T) {
	decoded, err := LoadDecoded("vllm/0.32.0", "salt")
	if err != nil {
		t.Fatal(err)
	}
	if len(decoded) != 4 || decoded[0].Sequence != 13 || decoded[0].Topic != "kv-events" || !json.Valid(decoded[0].Payload) {
		t.Errorf("got %d messages, the first %+v", len(decoded), decoded[0])
	}
	if _, err := LoadDecoded("vllm/0.32.0", "missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file gave %v", err)
	}
}

func TestTimestampRefuses(t *testing.T) {
	for _, payload := range []string{"", "\x93", "\x93\xcb\x00", strings.Repeat("x", 20)} {
		if _, err := timestamp([]byte(payload)); err == nil {
			t.Errorf("payload %q has a timestamp", payload)
		}
	}
}

func TestRootIsAboveThisPackage(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	if parts := strings.Split(root, string(filepath.Separator)); !slices.Contains(parts, "captures") {
		t.Errorf("root is %s", root)
	}
}
