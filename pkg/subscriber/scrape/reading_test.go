/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package scrape

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/test/captures"
	"inferencecache.io/inference-cache/test/mutation"
)

func number(value float64) *float64 { return &value }

// page opens a recorded page.
func page(t testing.TB, path string) *os.File {
	t.Helper()
	root, err := captures.Root()
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file
}

func TestRecordedPages(t *testing.T) {
	tests := map[string]struct {
		profile Profile
		ranks   int
		want    []Reading
	}{
		"vllm/0.22.1/metrics_after.txt": {VLLM, 1, []Reading{{
			Running: number(0), Waiting: number(0), CacheUsage: number(0), HitTokens: number(8704), QueryTokens: number(14798),
			T2HitTokens: number(0), T2QueryTokens: number(0), Blocks: 48,
		}}},
		"vllm/0.32.0-dp2/metrics_after.txt": {VLLM, 2, []Reading{
			{
				Running: number(0), Waiting: number(0), CacheUsage: number(0), HitTokens: number(288), QueryTokens: number(720),
				T2HitTokens: number(0), T2QueryTokens: number(0), Blocks: 96,
			},
			{
				Running: number(0), Waiting: number(0), CacheUsage: number(0), HitTokens: number(352), QueryTokens: number(792),
				T2HitTokens: number(0), T2QueryTokens: number(0), Blocks: 96,
			},
		}},
		"sglang/0.5.19/p1-basic.metrics.txt": {SGLang, 1, []Reading{{
			Running: number(0), Waiting: number(0), CacheUsage: number(16.0 / 400), HitTokens: number(162), QueryTokens: number(669),
		}}},
		"sglang/0.5.23/p16-hicache-wt.metrics.txt": {SGLang, 1, []Reading{{
			Running: number(0), Waiting: number(0), CacheUsage: number(64.0 / 512), HitTokens: number(352), QueryTokens: number(2468),
			T2HitTokens: number(128), T2QueryTokens: number(2468 - 352),
		}}},
	}
	for path, tc := range tests {
		t.Run(path, func(t *testing.T) {
			got, err := Parse(page(t, path), tc.profile, tc.ranks)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestLoadsThatFailed reads a page on which 1792 tokens were promised by lookups and
// 512 are known to have arrived. What was kept of it lacks the engine's load.
func TestLoadsThatFailed(t *testing.T) {
	kept := page(t, "vllm/0.32.0-connectors/v1-redis-fail-kvevents.metrics.txt")
	got, err := Parse(io.MultiReader(strings.NewReader(vllmLoad), kept), VLLM, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := []Reading{{
		Running: number(1), Waiting: number(2), HitTokens: number(0), QueryTokens: number(5060),
		T2HitTokens: number(512), T2QueryTokens: number(5060),
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOtherEnginesPage reads each engine's page under the other's names.
func TestOtherEnginesPage(t *testing.T) {
	for path, profile := range map[string]Profile{
		"vllm/0.32.0/metrics_after.txt":       SGLang,
		"sglang/0.5.23/p64-evict.metrics.txt": VLLM,
	} {
		if _, err := Parse(page(t, path), profile, 1); err == nil || !strings.Contains(err.Error(), string(profile)) {
			t.Errorf("%s as %s: error %v, want one that says so", path, profile, err)
		}
	}
}

const vllmLoad = "vllm:num_requests_running 1\nvllm:num_requests_waiting 2\n"

const sglangLoad = "sglang:num_running_reqs 1\nsglang:num_queue_reqs 2\n"

func TestPages(t *testing.T) {
	load := func(r Reading) Reading {
		r.Running, r.Waiting = number(1), number(2)
		return r
	}
	tests := map[string]struct {
		profile Profile
		page    string
		want    Reading
	}{
		"nothing but load":       {VLLM, vllmLoad, load(Reading{})},
		"older names":            {VLLM, vllmLoad + "vllm:gpu_cache_usage_perc 0.5\n# TYPE vllm:gpu_prefix_cache_hits_total counter\nvllm:gpu_prefix_cache_hits_total 3\n", load(Reading{CacheUsage: number(0.5), HitTokens: number(3)})},
		"not a number":           {VLLM, vllmLoad + "vllm:kv_cache_usage_perc NaN\n", load(Reading{})},
		"negative":               {VLLM, vllmLoad + "vllm:kv_cache_usage_perc -1\n", load(Reading{})},
		"infinite":               {VLLM, vllmLoad + "vllm:prefix_cache_hits_total +Inf\n", load(Reading{})},
		"blocks not known yet":   {VLLM, vllmLoad + "vllm:cache_config_info{num_gpu_blocks=\"None\"} 1\n", load(Reading{})},
		"two models":             {VLLM, vllmLoad + "vllm:prefix_cache_hits_total{model_name=\"a\"} 1\nvllm:prefix_cache_hits_total{model_name=\"b\"} 2\n", load(Reading{HitTokens: number(3)})},
		"hits that arrived":      {VLLM, vllmLoad + "vllm:external_prefix_cache_hits_total 8\nlmcache:num_hit_tokens_total{worker_id=\"0\"} 5\nlmcache:num_hit_tokens_total{worker_id=\"1\"} 6\n", load(Reading{T2HitTokens: number(6)})},
		"more than was promised": {VLLM, vllmLoad + "vllm:external_prefix_cache_hits_total 8\nlmcache:num_hit_tokens_total 9\n", load(Reading{T2HitTokens: number(8)})},
		"arrived of nothing":     {VLLM, vllmLoad + "lmcache:num_hit_tokens_total 9\n", load(Reading{})},
		"priorities":             {SGLang, "sglang:num_running_reqs{priority=\"\"} 1\nsglang:num_running_reqs{priority=\"1\"} 5\nsglang:num_queue_reqs 2\n", load(Reading{})},
		"shards of one rank":     {SGLang, "sglang:num_running_reqs{tp_rank=\"0\"} 1\nsglang:num_running_reqs{tp_rank=\"1\"} 1\nsglang:num_queue_reqs 2\n", load(Reading{})},
		"usage, older":           {SGLang, sglangLoad + "sglang:token_usage 0.25\n", load(Reading{CacheUsage: number(0.25)})},
		"idle with a full pool":  {SGLang, sglangLoad + "sglang:num_used_tokens 0\nsglang:kv_evictable_tokens 90\nsglang:max_total_num_tokens 100\n", load(Reading{CacheUsage: number(0.9)})},
		"no hit yet":             {SGLang, sglangLoad + "sglang:prompt_tokens_total 10\n", load(Reading{QueryTokens: number(10)})},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Parse(strings.NewReader(tc.page), tc.profile, 1)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]Reading{tc.want}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestBadPages(t *testing.T) {
	for name, text := range map[string]string{
		"empty":          "",
		"no metrics":     "<html>not found</html>",
		"half the load":  "vllm:num_requests_running 1\n",
		"broken off":     vllmLoad + "vllm:kv_cache_usage_perc{",
		"a wrong number": vllmLoad + "vllm:kv_cache_usage_perc x\n",
	} {
		if _, err := Parse(strings.NewReader(text), VLLM, 1); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestSeriesWithoutRank gives them to the first of several ranks only, so that
// nothing is counted twice.
func TestSeriesWithoutRank(t *testing.T) {
	got, err := Parse(strings.NewReader(sglangLoad), SGLang, 2)
	if err != nil {
		t.Fatal(err)
	}
	want := []Reading{{Running: number(1), Waiting: number(2)}, {}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzParse(f *testing.F) {
	corpus := mutation.New(f, 1000)
	corpus.Add(vllmLoad, true)
	corpus.Add(sglangLoad+"sglang:cached_tokens_total{cache_source=\"host\"} 1\n", false)
	corpus.Fuzz(func(t *testing.T, text string, vllm bool) {
		profile := SGLang
		if vllm {
			profile = VLLM
		}
		readings, err := Parse(strings.NewReader(text), profile, 2)
		if err != nil {
			return
		}
		for rank, r := range readings {
			for i, value := range []*float64{r.Running, r.Waiting, r.CacheUsage, r.HitTokens, r.QueryTokens, r.T2HitTokens, r.T2QueryTokens} {
				if value != nil && !(*value >= 0) {
					t.Errorf("rank %d: value %d is %s", rank, i, fmt.Sprint(*value))
				}
			}
		}
	})
}
