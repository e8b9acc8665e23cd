/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/proto"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/test/mutation"
)

// fullScore has every field of a ranking.
func fullScore() *pb.ReplicaScore {
	return &pb.ReplicaScore{
		ReplicaId: "engine-0/1", Score: 12.5, MatchedTokens: 96, EstimatedCacheHitProb: 0.5, Tier: pb.CacheTier_CACHE_TIER_T2,
		Namespace: "team", Pod: "engine-0", Rank: 1, Exact: true, Inferred: true, State: "Live", Explanation: "why",
		ExpectedTtftMs: 7.5, Sequence: 42, EventAgeMs: 1500, T2Tokens: 32, T3Tokens: 16,
	}
}

func TestAnswerOf(t *testing.T) {
	full := Replica{
		ID: "engine-0/1", Namespace: "team", Pod: "engine-0", Rank: 1, MatchedTokens: 96, T2Tokens: 32, T3Tokens: 16,
		Exact: true, Inferred: true, Score: 12.5, ExpectedTTFT: 7500 * time.Microsecond, HitProbability: 0.5, Tier: T2,
		State: "Live", Sequence: 42, EventAge: 1500 * time.Millisecond, Explanation: "why",
	}
	scores := []*pb.ReplicaScore{fullScore(), {ReplicaId: "engine-1"}}
	cases := map[string]struct {
		response *pb.LookupRouteResponse
		want     Answer
		best     string
	}{
		"a match": {
			&pb.LookupRouteResponse{
				ReasonCode: "PREFIX_MATCH", ReplicaScores: scores, ObservedBy: "index-0", Complete: true,
				PromptTokens: 100, Explanation: "because", TokenIds: []uint32{1, 2},
			},
			Answer{
				Reason: PrefixMatch, Replicas: []Replica{full, {ID: "engine-1"}}, ObservedBy: "index-0", Complete: true,
				PromptTokens: 100, Explanation: "because", TokenIDs: []uint32{1, 2},
			}, "engine-0/1",
		},
		"affinity":          {&pb.LookupRouteResponse{ReasonCode: "AFFINITY_HINT", ReplicaScores: scores[1:]}, Answer{Reason: AffinityHint, Replicas: []Replica{{ID: "engine-1"}}}, "engine-1"},
		"a hot tenant":      {&pb.LookupRouteResponse{ReasonCode: "TENANT_HOT", ReplicaScores: scores[1:]}, Answer{Reason: TenantHot, Replicas: []Replica{{ID: "engine-1"}}}, "engine-1"},
		"a match of nobody": {&pb.LookupRouteResponse{ReasonCode: "PREFIX_MATCH"}, Answer{Reason: PrefixMatch}, ""},
		"no hint":           {&pb.LookupRouteResponse{ReasonCode: "NO_HINT", ReplicaScores: scores, Explanation: "why"}, Answer{Reason: NoHint, Explanation: "why"}, ""},
		"a policy":          {&pb.LookupRouteResponse{ReasonCode: "POLICY_REQUIRES_CHAIN"}, Answer{Reason: PolicyRequiresChain}, ""},
		"too late":          {&pb.LookupRouteResponse{ReasonCode: "TIMEOUT"}, Answer{Reason: Timeout}, ""},
		"unknown tenant":    {&pb.LookupRouteResponse{ReasonCode: "UNKNOWN_TENANT"}, Answer{Reason: UnknownTenant}, ""},
		"unknown model":     {&pb.LookupRouteResponse{ReasonCode: "UNKNOWN_MODEL"}, Answer{Reason: UnknownModel}, ""},
		"unknown scheme":    {&pb.LookupRouteResponse{ReasonCode: "UNKNOWN_HASH_SCHEME"}, Answer{Reason: UnknownHashScheme}, ""},
		"a newer reason": {
			&pb.LookupRouteResponse{ReasonCode: "WARM_UP", ReplicaScores: scores},
			Answer{Reason: NoHint, Explanation: `the index gave the reason "WARM_UP", which this client does not know`}, "",
		},
		"nothing": {&pb.LookupRouteResponse{}, Answer{Reason: NoHint, Explanation: `the index gave the reason "", which this client does not know`}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := answerOf(tc.response)
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateErrors()); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if best, ok := got.Best(); best.ID != tc.best || ok != (tc.best != "") {
				t.Errorf("best %q, %v", best.ID, ok)
			}
		})
	}
}

func TestFailed(t *testing.T) {
	why := errors.New("no route")
	if got := failed(why); got.Reason != NoHint || !errors.Is(got.Err, why) || got.Complete {
		t.Errorf("answer %+v", got)
	}
}

// FuzzAnswer holds that no message makes a hint of what is none.
func FuzzAnswer(f *testing.F) {
	corpus := mutation.New(f, 2000)
	for _, reason := range []string{"PREFIX_MATCH", "NO_HINT", "OTHER"} {
		wire, err := proto.Marshal(&pb.LookupRouteResponse{
			ReasonCode: reason, ReplicaScores: []*pb.ReplicaScore{fullScore()}, TokenIds: []uint32{1}, PromptTokens: 9, Complete: true,
		})
		if err != nil {
			f.Fatal(err)
		}
		corpus.Add(wire)
	}
	corpus.Fuzz(func(t *testing.T, wire []byte) {
		var response pb.LookupRouteResponse
		if proto.Unmarshal(wire, &response) != nil {
			return
		}
		answer := answerOf(&response)
		_, ok := answer.Best()
		if !answer.Reason.known() || answer.Err != nil || (!answer.Reason.Hint() && (ok || len(answer.Replicas) > 0)) {
			t.Errorf("answer %+v", answer)
		}
	})
}
