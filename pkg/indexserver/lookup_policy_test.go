/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	clocktesting "k8s.io/utils/clock/testing"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/indexserver"
	"inferencecache.io/inference-cache/pkg/indexserver/indexservertest"
	"inferencecache.io/inference-cache/pkg/routing"
)

// policies has one policy for the tenant team.
type policies struct{ policy *routing.Policy }

func (p policies) Policy(tenant string) *routing.Policy {
	if tenant != "team" {
		return nil
	}
	return p.policy
}

// tokenizer is a function that reads prompts.
type tokenizer func(ctx context.Context, model, prompt string) ([]uint32, error)

func (f tokenizer) Tokenize(ctx context.Context, model, prompt string) ([]uint32, error) {
	return f(ctx, model, prompt)
}

// letters makes a token of every byte.
func letters(_ context.Context, _, prompt string) ([]uint32, error) {
	ids := make([]uint32, len(prompt))
	for i := range prompt {
		ids[i] = uint32(prompt[i])
	}
	return ids, nil
}

const prose = "an engine holds the first blocks of this prompt and of no other"

func TestPromptText(t *testing.T) {
	ids, _ := letters(t.Context(), "", prose)
	seconds := make(chan time.Duration, 1)
	tests := map[string]struct {
		tokenizer   tokenizer
		policy      *routing.Policy
		request     *pb.LookupRouteRequest
		reason      string
		explanation string
		echo        []uint32
		outcome     string
	}{
		"match":         {letters, nil, &pb.LookupRouteRequest{PromptText: prose}, "PREFIX_MATCH", "", ids, "done"},
		"too short":     {letters, nil, &pb.LookupRouteRequest{PromptText: "abc"}, "NO_HINT", "", []uint32{'a', 'b', 'c'}, "done"},
		"token ids win": {letters, nil, &pb.LookupRouteRequest{PromptText: "abc", TokenIds: ids}, "PREFIX_MATCH", "", nil, ""},
		"fails": {
			func(context.Context, string, string) ([]uint32, error) {
				return nil, errors.New("the model has no tokenizer")
			},
			nil, &pb.LookupRouteRequest{PromptText: prose}, "NO_HINT", "prompt_text: the model has no tokenizer", nil, "failed",
		},
		"is out of time": {
			func(context.Context, string, string) ([]uint32, error) { return nil, context.DeadlineExceeded },
			nil, &pb.LookupRouteRequest{PromptText: prose}, "TIMEOUT", "", nil, "timeout",
		},
		"the policy's time is over": {
			func(ctx context.Context, _, _ string) ([]uint32, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
			&routing.Policy{Timeout: time.Millisecond}, &pb.LookupRouteRequest{PromptText: prose}, "TIMEOUT", "", nil, "timeout",
		},
		"has 5 seconds": {
			func(ctx context.Context, model, prompt string) ([]uint32, error) {
				deadline, _ := ctx.Deadline()
				seconds <- time.Until(deadline)
				return letters(ctx, model, prompt)
			},
			nil, &pb.LookupRouteRequest{PromptText: prose}, "PREFIX_MATCH", "", ids, "done",
		},
		"too long":       {letters, nil, &pb.LookupRouteRequest{PromptText: strings.Repeat("x", routing.MaxTextBytes+1)}, "NO_HINT", "prompt_text has 1048577 bytes, at most 1048576 are accepted", nil, ""},
		"chain required": {letters, &routing.Policy{RequireChain: true}, &pb.LookupRouteRequest{PromptText: prose}, "POLICY_REQUIRES_CHAIN", "", nil, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := indexservertest.Start(t, indexservertest.WithTokenizer(test.tokenizer), indexservertest.WithPolicies(policies{test.policy}))
			seed(t, s, chainOf(fingerprint.Parent{}, ids)...)
			test.request.TenantId, test.request.ModelId = "team", "llama"
			got := lookup(t, s, test.request)
			if got.GetReasonCode() != test.reason || got.GetExplanation() != test.explanation {
				t.Errorf("got %v, want %s (%s)", got, test.reason, test.explanation)
			}
			if diff := cmp.Diff(test.echo, got.GetTokenIds()); diff != "" {
				t.Errorf("echoed tokens (-want +got):\n%s", diff)
			}
			wantOutcome(t, s, test.outcome)
		})
	}
	if left := <-seconds; left > indexserver.DefaultTokenizeTimeout || left < time.Second {
		t.Errorf("the tokenizer was given %s, want about %s", left, indexserver.DefaultTokenizeTimeout)
	}
}

// wantOutcome looks for the one outcome that was counted, or none.
func wantOutcome(t *testing.T, s *indexservertest.Instance, outcome string) {
	t.Helper()
	var want strings.Builder
	want.WriteString("# HELP inferencecache_lookup_tokenizations_total Prompts that came as text, by what became of them at the tokenizer.\n" +
		"# TYPE inferencecache_lookup_tokenizations_total counter\n")
	for _, name := range []string{"busy", "done", "failed", "timeout"} {
		want.WriteString("inferencecache_lookup_tokenizations_total{outcome=\"" + name + "\"} " + map[bool]string{true: "1\n", false: "0\n"}[name == outcome])
	}
	if err := testutil.GatherAndCompare(s.Metrics, strings.NewReader(want.String()), "inferencecache_lookup_tokenizations_total"); err != nil {
		t.Error(err)
	}
}

func TestTokenizationsAreBounded(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	s := indexservertest.Start(t, indexservertest.WithLimits(indexserver.Limits{Tokenizations: 2}),
		indexservertest.WithTokenizer(tokenizer(func(ctx context.Context, model, prompt string) ([]uint32, error) {
			arrived <- struct{}{}
			<-release
			return letters(ctx, model, prompt)
		})))
	client := s.Client(t)
	ask := func() *pb.LookupRouteResponse {
		response, err := client.LookupRoute(t.Context(), &pb.LookupRouteRequest{TenantId: "team", ModelId: "llama", PromptText: prose})
		if err != nil {
			t.Errorf("lookup: %v", err)
		}
		return response
	}
	answers := make(chan *pb.LookupRouteResponse)
	for range 2 {
		go func() { answers <- ask() }()
		<-arrived
	}
	if got := ask(); got.GetExplanation() != "prompt_text: 2 prompts are being tokenised already" {
		t.Errorf("got %v, want a refusal", got)
	}
	close(release)
	for range 2 {
		if got := <-answers; len(got.GetTokenIds()) != len(prose) {
			t.Errorf("got %v, want the tokens", got)
		}
	}
}

// TestPolicyTimeout lets the policy's time pass while a lookup is answered.
func TestPolicyTimeout(t *testing.T) {
	var clock *clocktesting.FakeClock
	slow := tokenizer(func(ctx context.Context, model, prompt string) ([]uint32, error) {
		clock.Step(time.Second)
		return letters(ctx, model, prompt)
	})
	s := indexservertest.Start(t, indexservertest.WithTokenizer(slow), indexservertest.WithPolicies(policies{&routing.Policy{Timeout: time.Second}}))
	clock = s.Clock
	seed(t, s, 11)
	for explain, want := range map[bool]string{false: "", true: "the policy's lookupTimeoutMs passed"} {
		got := lookup(t, s, &pb.LookupRouteRequest{TenantId: "team", ModelId: "llama", PromptText: prose, Explain: explain})
		if got.GetReasonCode() != "TIMEOUT" || got.GetExplanation() != want {
			t.Errorf("got %v, want TIMEOUT and %q", got, want)
		}
	}
	if got := lookup(t, s, &pb.LookupRouteRequest{TenantId: "team", ModelId: "llama", PackedBlockHashes: indexservertest.Pack(11)}); got.GetReasonCode() != "PREFIX_MATCH" {
		t.Errorf("got %v, want a match in time", got)
	}
}

func TestIgnoredChains(t *testing.T) {
	s := indexservertest.Start(t, indexservertest.WithPolicies(policies{&routing.Policy{IgnoreChains: true, Costs: routing.DefaultCosts()}}))
	chain := chainOf(fingerprint.Parent{}, tokens(1, 64))
	seed(t, s, chain...)
	malformed := [][]byte{{1}}
	tests := map[string]struct {
		request *pb.LookupRouteRequest
		reason  string
		text    string
	}{
		"nothing else":   {&pb.LookupRouteRequest{BlockHashes: wire(chain)}, "NO_HINT", "the policy does not take chains, and the request has nothing else"},
		"prefix hash":    {&pb.LookupRouteRequest{BlockHashes: malformed, PrefixHash: wire(chain)[3]}, "PREFIX_MATCH", ""},
		"the whole":      {&pb.LookupRouteRequest{BlockHashes: malformed, TokenIds: tokens(1, 70)}, "PREFIX_MATCH", ""},
		"a part is none": {&pb.LookupRouteRequest{TokenIds: tokens(1, 100)}, "AFFINITY_HINT", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.request.TenantId, test.request.ModelId = "team", "llama"
			got := lookup(t, s, test.request)
			if got.GetReasonCode() != test.reason || got.GetExplanation() != test.text {
				t.Errorf("got %v, want %s (%s)", got, test.reason, test.text)
			}
		})
	}
}

func TestWhatAScoreSays(t *testing.T) {
	s := indexservertest.Start(t)
	chain := chainOf(fingerprint.Parent{}, tokens(1, 64))
	stream := seed(t, s, chain[:2]...)
	stream.Send(&pb.ReportRequest{Message: &pb.ReportRequest_Stats{Stats: &pb.EngineStats{Running: new(int64(4))}}})
	stream.Heartbeat(1)
	stream.Acked(1)
	got := lookup(t, s, &pb.LookupRouteRequest{TenantId: "team", ModelId: "llama", TokenIds: tokens(1, 64)}).GetReplicaScores()[0]
	// 4 running requests and 32 tokens to compute, at 1 ms and 0.125 ms each.
	if got.GetExpectedTtftMs() != 8 || got.GetScore() != 4 || got.GetSequence() != 1 {
		t.Errorf("got %v, want 8 ms, 4 of them saved, at sequence 1", got)
	}
}
