/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package prediction

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/indexserver/indexservertest"
	"inferencecache.io/inference-cache/pkg/subscriber"
	"inferencecache.io/inference-cache/test/captures"
	"inferencecache.io/inference-cache/test/engine/player"
	"inferencecache.io/inference-cache/test/engine/progress"
)

const (
	tenant = "team"
	// window is shorter than a subscriber's default, so that a test need not wait.
	window = time.Millisecond
	// patience is for an overloaded machine.
	patience = time.Minute
)

// rank is one recorded socket pair with the subscriber that listens to it.
type rank struct {
	recording *captures.Recording
	player    *player.Player
	pod       string
	metrics   string
}

// newRank plays a recording to a new subscriber that reports to a server.
func newRank(t *testing.T, server *indexservertest.Instance, recording *captures.Recording, model, pod string) *rank {
	t.Helper()
	p, err := player.New(recording)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	options := subscriber.NewOptions()
	options.EngineEndpoint, options.EngineReplayEndpoint = p.EventsEndpoint(), p.ReplayEndpoint()
	options.EngineMetricsURL = ""
	options.HashScheme = recording.Engine
	options.Server, options.CAFile, options.TokenFile = server.Address, server.CAFile, server.TokenFile
	options.ReplicaID, options.TenantID, options.ModelID = pod, tenant, model
	options.Window = window
	options.MetricsBindAddress = "127.0.0.1:0"
	s, err := subscriber.New(*options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("subscriber: %v", err)
		}
	})
	r := &rank{recording: recording, player: p, pod: pod, metrics: s.Address()}
	waiting, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	if err := p.WaitSubscribed(waiting); err != nil {
		t.Fatal(err)
	}
	return r
}

// advance sends what the engine had published at a request and waits until the
// server knows it.
func (r *rank) advance(t *testing.T, send func() error) {
	t.Helper()
	if err := send(); err != nil {
		t.Fatal(err)
	}
	to := progress.Point{Sequence: -1}
	if newest, sent := r.player.Newest(); sent {
		to.Sequence = int64(newest)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := progress.Await(ctx, r.metrics, to); err != nil {
		t.Fatal(err)
	}
}

// outcome counts how answers compare with the engine's own.
type outcome struct {
	// Equal are right, Bounds lower and called inexact, Excluded not asked.
	Equal, Bounds, Excluded int
}

func (o *outcome) compared() int { return o.Equal + o.Bounds }

// play goes through the requests of the first rank. All ranks advance with it;
// the one that ran a request is the one that is asked about.
func play(t *testing.T, client pb.InferenceCacheClient, model string, ranks ...*rank) outcome {
	t.Helper()
	var got outcome
	recording := ranks[0].recording
	excluded := exclusions(recording)
	for i, request := range recording.Requests {
		if request.Op != captures.OpGenerate || request.CachedTokens == nil {
			continue
		}
		if excluded[i] != "" {
			got.Excluded++
			continue
		}
		ranks[0].advance(t, func() error { return ranks[0].player.AdvanceToRequest(i) })
		for _, other := range ranks[1:] {
			other.advance(t, func() error { return other.player.Advance(request.SentMS) })
		}
		ran := ranks[0]
		if request.Rank != nil {
			ran = ranks[*request.Rank]
		}
		got.add(t, ask(t, client, model, ran.pod, request), i, request)
	}
	return got
}

// ask returns what the server says about one engine; one that is not in the
// answer reuses nothing.
func ask(t *testing.T, client pb.InferenceCacheClient, model, pod string, request captures.Request) *pb.ReplicaScore {
	t.Helper()
	response, err := client.LookupRoute(t.Context(), &pb.LookupRouteRequest{
		ModelId: model, TenantId: tenant, TokenIds: request.Prompt, AdapterId: request.Adapter, CacheSalt: request.CacheSalt,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, score := range response.GetReplicaScores() {
		if score.GetPod() == pod {
			return score
		}
	}
	return &pb.ReplicaScore{Exact: true}
}

func (o *outcome) add(t *testing.T, answer *pb.ReplicaScore, i int, request captures.Request) {
	t.Helper()
	switch matched, want := int(answer.GetMatchedTokens()), *request.CachedTokens; {
	case matched == want:
		o.Equal++
	case matched < want && !answer.GetExact():
		o.Bounds++
	default:
		t.Errorf("%s, request %d of %d tokens: %d matched (exact %t), the engine reused %d",
			filepath.Join(request.Scenario, request.Part), i, len(request.Prompt), matched, answer.GetExact(), want)
	}
}

// exclusions returns the requests whose answer events cannot tell, and why.
func exclusions(recording *captures.Recording) map[int]string {
	out := map[int]string{}
	reset := false
	for i, request := range recording.Requests {
		switch {
		case request.Op == captures.OpReset:
			// vLLM publishes a reset with the step after it.
			reset = recording.Engine == "vllm"
			continue
		case request.Op != captures.OpGenerate:
			continue
		case request.Concurrent:
			out[i] = "answered before it was published what a request at the same time did"
		case reset:
			out[i] = "the reset before it is not published yet"
		case request.CacheSalt != "" && (recording.Version == "0.9.2" || recording.Version == "0.11.2"):
			out[i] = "this release does not announce salts"
		case request.ExtraKey != "":
			out[i] = "extra keys are announced nowhere"
		}
		reset = false
	}
	return out
}

// podName makes a Pod's name of a recording's.
func podName(parts ...string) string {
	return strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(strings.Join(parts, "-")))
}
