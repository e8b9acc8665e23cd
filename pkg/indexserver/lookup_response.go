/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"math"
	"time"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/routing"
)

// responseOf puts an answer into the contract's form. All scores are one piece of
// memory, which is freed with the response.
func responseOf(r *routing.Response, now time.Time) *pb.LookupRouteResponse {
	out := &pb.LookupRouteResponse{
		ReasonCode: string(r.Reason), Explanation: r.Explanation, PromptTokens: int32Of(r.PromptTokens), TokenIds: r.Tokens,
	}
	if len(r.Replicas) == 0 {
		return out
	}
	scores := make([]pb.ReplicaScore, len(r.Replicas))
	out.ReplicaScores = make([]*pb.ReplicaScore, len(r.Replicas))
	for i := range r.Replicas {
		fillScore(&scores[i], &r.Replicas[i], now)
		out.ReplicaScores[i] = &scores[i]
	}
	return out
}

func fillScore(out *pb.ReplicaScore, r *routing.Replica, now time.Time) {
	out.ReplicaId = r.Holder.ReplicaID()
	out.Score = float32(r.Score)
	out.MatchedTokens = int32Of(r.Tokens)
	out.EstimatedCacheHitProb = float32(r.HitProbability)
	// The tiers of the index have the numbers of the contract.
	out.Tier = pb.CacheTier(r.Tier)
	out.Namespace = r.Holder.Namespace
	out.Pod = r.Holder.Pod
	out.Rank = r.Holder.Rank
	out.Exact = r.Exact
	out.Inferred = r.Inferred
	out.State = r.State.String()
	out.Explanation = r.Explanation
	out.ExpectedTtftMs = float32(r.Cost.TTFT())
	out.Sequence = r.Sequence
	if !r.LastEvent.IsZero() {
		// An engine whose clock is ahead of ours has announced something just now.
		out.EventAgeMs = max(now.Sub(r.LastEvent).Milliseconds(), 1)
	}
	out.T2Tokens = int32Of(r.T2Tokens)
	out.T3Tokens = int32Of(r.T3Tokens)
}

// int32Of clamps a count to what the contract's fields hold.
func int32Of(n int) int32 {
	return int32(min(max(n, 0), math.MaxInt32))
}
