/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package subscriber_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/indexserver/indexservertest"
	"inferencecache.io/inference-cache/pkg/subscriber"
	"inferencecache.io/inference-cache/test/captures"
	"inferencecache.io/inference-cache/test/engine/player"
)

// sockets are those of an engine.
type sockets interface {
	EventsEndpoint() string
	ReplayEndpoint() string
}

// start runs a subscriber that reads an engine's sockets and reports to a server,
// until the test ends.
func start(t *testing.T, scheme string, p sockets, server *indexservertest.Instance) *subscriber.Subscriber {
	t.Helper()
	o := subscriber.NewOptions()
	o.EngineEndpoint, o.EngineReplayEndpoint = p.EventsEndpoint(), p.ReplayEndpoint()
	o.Server, o.TokenFile, o.CAFile = server.Address, server.TokenFile, server.CAFile
	o.HashScheme, o.ReplicaID, o.TenantID, o.ModelID, o.Backend = scheme, "pod-0", "team-a", "tiny-llama", "cache"
	o.Window = time.Millisecond
	o.EngineMetricsURL, o.MetricsBindAddress = "", "127.0.0.1:0"
	s, err := subscriber.New(*o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	return s
}

// TestRecordingsThroughTheSystem plays recorded engines on real sockets and
// compares lookups with what the engines then reused.
func TestRecordingsThroughTheSystem(t *testing.T) {
	tests := map[string]struct {
		dir, scenario string
	}{
		"vLLM, several groups": {"vllm/0.32.0-hybrid", "evict"},
		"vLLM, copies":         {"vllm/0.32.0-copies", "twice"},
		"vLLM, arrays":         {"vllm/0.22.1", "prefix"},
		"SGLang, host tier":    {"sglang/0.5.23", "p16-hicache-wt"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			recording, err := captures.Load(tc.dir, tc.scenario)
			if err != nil {
				t.Fatal(err)
			}
			p, err := player.New(recording)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = p.Close() })
			server := indexservertest.Start(t)
			client := server.Client(t)
			scheme, _, _ := strings.Cut(tc.dir, "/")
			start(t, scheme, p, server)
			if err := p.WaitSubscribed(t.Context()); err != nil {
				t.Fatal(err)
			}
			compared := 0
			for i, request := range recording.Requests {
				if err := p.AdvanceToRequest(i); err != nil {
					t.Fatal(err)
				}
				if request.Op != captures.OpGenerate || request.CachedTokens == nil {
					continue
				}
				want := int32(*request.CachedTokens)
				var got int32
				indexservertest.Await(t, "the engine's answer", func() bool {
					got = lookup(t, client, request)
					return got == want
				})
				compared++
			}
			if compared == 0 {
				t.Error("nothing was compared")
			}
		})
	}
}

func lookup(t *testing.T, client pb.InferenceCacheClient, request captures.Request) int32 {
	t.Helper()
	response, err := client.LookupRoute(t.Context(), &pb.LookupRouteRequest{
		ModelId: "tiny-llama", TenantId: "team-a", TokenIds: request.Prompt,
		AdapterId: request.Adapter, CacheSalt: request.CacheSalt,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, score := range response.GetReplicaScores() {
		return score.GetMatchedTokens()
	}
	return 0
}

func TestMetricsAndHealth(t *testing.T) {
	recording, err := captures.Load("vllm/0.32.0-lora", "lora")
	if err != nil {
		t.Fatal(err)
	}
	p, err := player.New(recording)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	s := start(t, "vllm", p, indexservertest.Start(t))
	if err := p.AdvanceToEnd(); err != nil {
		t.Fatal(err)
	}
	if body := get(t, "http://"+s.Address()+"/healthz"); body != "ok\n" {
		t.Errorf("healthz answered %q", body)
	}
	for _, want := range []string{
		`inferencecache_subscriber_stored_events_total{rank="0"} 4`,
		`inferencecache_subscriber_engine_connected{rank="0"} 1`,
		`inferencecache_subscriber_sessions{address=`,
	} {
		indexservertest.Await(t, want, func() bool {
			return strings.Contains(get(t, "http://"+s.Address()+"/metrics"), want)
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
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
