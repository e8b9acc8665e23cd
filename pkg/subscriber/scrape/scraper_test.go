/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package scrape

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	clocktesting "k8s.io/utils/clock/testing"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// kept is a sink that hands on what it is given.
type kept struct {
	stats    chan *pb.EngineStats
	capacity int64
	engine   string
}

func (k *kept) SetStats(stats *pb.EngineStats) { k.stats <- stats }

func (k *kept) SetCapacity(blocks int64) { k.capacity = blocks }

func (k *kept) SetEngine(name string) { k.engine = name }

func TestVersion(t *testing.T) {
	tests := map[string]struct {
		profile Profile
		paths   map[string]string
		want    string
	}{
		"vLLM":            {VLLM, map[string]string{"/version": `{"version":"0.32.0"}`}, "vllm/0.32.0"},
		"SGLang":          {SGLang, map[string]string{"/server_info": `{"kv_events":{},"version":"0.5.23"}`}, "sglang/0.5.23"},
		"SGLang, older":   {SGLang, map[string]string{"/get_server_info": `{"version":"0.5.9"}`}, "sglang/0.5.9"},
		"none":            {VLLM, nil, ""},
		"not JSON":        {VLLM, map[string]string{"/version": "0.32.0 <b>"}, ""},
		"not printable":   {VLLM, map[string]string{"/version": `{"version":"\u0007"}`}, ""},
		"longer than one": {VLLM, map[string]string{"/version": `{"version":"` + strings.Repeat("1", 65) + `"}`}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			asked := 0
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/metrics" {
					_, _ = io.WriteString(w, vllmLoad+sglangLoad)
					return
				}
				asked++
				if answer, ok := tc.paths[r.URL.Path]; ok {
					_, _ = io.WriteString(w, answer)
					return
				}
				w.WriteHeader(http.StatusNotFound)
			}))
			defer web.Close()
			sink := &kept{stats: make(chan *pb.EngineStats, 10)}
			s := New(Config{URL: web.URL + "/metrics", Profile: tc.profile, Registerer: prometheus.NewRegistry()}, sink)
			for range 2 * maxAsked {
				s.attempt(t.Context())
			}
			if sink.engine != tc.want {
				t.Errorf("engine %q, want %q", sink.engine, tc.want)
			}
			if limit := maxAsked * len(versionPaths(tc.profile)); asked > limit || (tc.want != "" && asked > 2) {
				t.Errorf("asked %d times", asked)
			}
		})
	}
}

// server answers with pages one after the other; an empty one is an error.
type server struct {
	mu    sync.Mutex
	pages []string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/metrics" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pages) == 0 || s.pages[0] == "" {
		w.WriteHeader(http.StatusServiceUnavailable)
	} else {
		_, _ = io.WriteString(w, s.pages[0])
	}
	if len(s.pages) > 1 {
		s.pages = s.pages[1:]
	}
}

func TestScraper(t *testing.T) {
	const hits = "# TYPE vllm:prefix_cache_hits_total counter\nvllm:prefix_cache_hits_total "
	engine := &server{pages: []string{
		vllmLoad + hits + "100\nvllm:kv_cache_usage_perc 0.5\nvllm:cache_config_info{num_gpu_blocks=\"48\"} 1\n",
		vllmLoad + hits + "150\n",
		vllmLoad + hits + "20\n",
	}}
	web := httptest.NewServer(engine)
	defer web.Close()
	c := clocktesting.NewFakeClock(time.UnixMicro(5))
	sink := &kept{stats: make(chan *pb.EngineStats)}
	registry := prometheus.NewRegistry()
	s := New(Config{URL: web.URL + "/metrics", Profile: VLLM, Interval: time.Second, ConcurrencyCeiling: 12, CacheBytes: 1000, Registerer: registry, Clock: c}, sink)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Run(ctx)
	}()
	load := func(at, hits int64) *pb.EngineStats {
		return &pb.EngineStats{TimeUs: at, Running: proto.Int64(1), Waiting: proto.Int64(2), Pressure: proto.Float64(0.25), HitTokens: &hits}
	}
	first := load(5, 100)
	first.CacheUsage, first.CacheMemoryBytes = proto.Float64(0.5), proto.Int64(500)
	// The third page is that of an engine that has started anew.
	for i, want := range []*pb.EngineStats{first, load(1_000_005, 150), load(2_000_005, 170)} {
		if diff := cmp.Diff(want, <-sink.stats, protocmp.Transform()); diff != "" {
			t.Errorf("reading %d (-want +got):\n%s", i, diff)
		}
		if i == 0 && sink.capacity != 48 {
			t.Errorf("capacity %d, want 48", sink.capacity)
		}
		if i < 2 {
			step(t, c, time.Second)
		}
	}
	cancel()
	<-done
	if got := testutil.ToFloat64(s.up); got != 1 {
		t.Errorf("up is %v, want 1", got)
	}
}

func TestScraperCountsFailures(t *testing.T) {
	web := httptest.NewServer(&server{pages: []string{""}})
	defer web.Close()
	sink := &kept{stats: make(chan *pb.EngineStats)}
	s := New(Config{URL: web.URL + "/metrics", Profile: VLLM, Registerer: prometheus.NewRegistry()}, sink)
	for range staleAfter {
		s.attempt(t.Context())
	}
	if got := testutil.ToFloat64(s.failures); got != staleAfter || s.failed != staleAfter {
		t.Errorf("%v failures counted, %d in a row; want %d", got, s.failed, staleAfter)
	}
}

// step advances the clock when the scraper waits for it.
func step(t *testing.T, c *clocktesting.FakeClock, d time.Duration) {
	t.Helper()
	deadline := time.NewTimer(10 * time.Second)
	defer deadline.Stop()
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	for !c.HasWaiters() {
		select {
		case <-deadline.C:
			t.Fatal("the scraper does not wait")
		case <-poll.C:
		}
	}
	c.Step(d)
}

func TestLifetime(t *testing.T) {
	var l lifetime
	if l.next(nil) != nil {
		t.Error("an absent counter has a value")
	}
	for _, reading := range []struct{ value, want float64 }{{10, 10}, {15, 15}, {3, 18}, {3, 18}, {0, 18}, {4, 22}} {
		if got := *l.next(&reading.value); float64(got) != reading.want {
			t.Errorf("after %v: %d, want %v", reading.value, got, reading.want)
		}
	}
}
