/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"math"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/routing"
)

func responseOf(r *routing.Response) *pb.LookupRouteResponse {
	out := &pb.LookupRouteResponse{
		ReasonCode: string(r.Reason), Explanation: r.Explanation, PromptTokens: int32Of(r.PromptTokens),
		ReplicaScores: make([]*pb.ReplicaScore, len(r.Replicas)),
	}
	for i := range r.Replicas {
		out.ReplicaScores[i] = scoreOf(&r.Replicas[i])
	}
	return out
}

func scoreOf(r *routing.Replica) *pb.ReplicaScore {
	return &pb.ReplicaScore{
		ReplicaId:             r.Holder.ReplicaID(),
		Score:                 float32(r.Score),
		MatchedTokens:         int32Of(r.Tokens),
		EstimatedCacheHitProb: float32(r.HitProbability),
		// The tiers of the index have the numbers of the contract.
		Tier:        pb.CacheTier(r.Tier),
		Namespace:   r.Holder.Namespace,
		Pod:         r.Holder.Pod,
		Rank:        r.Holder.Rank,
		Exact:       r.Exact,
		Inferred:    r.Inferred,
		State:       r.State.String(),
		Explanation: r.Explanation,
	}
}

// int32Of clamps a count to what the contract's fields hold.
func int32Of(n int) int32 {
	return int32(min(max(n, 0), math.MaxInt32))
}
