/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"context"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/index"
)

// GetCacheState returns what every rank of a model last said of itself, ordered
// by namespace, Pod and rank. An empty model or tenant stands for all.
func (s *Server) GetCacheState(ctx context.Context, req *pb.GetCacheStateRequest) (*pb.GetCacheStateResponse, error) {
	if err := s.mayLookup(ctx, req.GetTenantId()); err != nil {
		return nil, err
	}
	views, prefixes := s.config.Index.ModelHolders(req.GetTenantId(), req.GetModelId())
	out := &pb.GetCacheStateResponse{
		Replicas: make([]*pb.ReplicaStats, len(views)),
		Summary:  &pb.CacheSummary{TotalPrefixes: prefixes},
	}
	for i := range views {
		out.Replicas[i] = replicaStatsOf(&views[i])
	}
	return out, nil
}

func replicaStatsOf(v *index.HolderView) *pb.ReplicaStats {
	out := &pb.ReplicaStats{
		ReplicaId: v.Holder.ReplicaID(), Namespace: v.Holder.Namespace, Pod: v.Holder.Pod, Rank: v.Holder.Rank,
		ClientVersion: v.ClientVersion, State: v.State.String(), Epoch: v.Epoch, Sequence: v.Sequence,
		PrefixCount: v.Prefixes, T1Blocks: v.Blocks[0], T2Blocks: v.Blocks[1], T3Blocks: v.Blocks[2],
	}
	if v.Stats == nil {
		return out
	}
	out.CacheMemoryBytes = orZero(v.Stats.CacheMemoryBytes)
	out.Pressure = float32(orZero(v.Stats.Pressure))
	out.T2HitTokens = orZero(v.Stats.T2HitTokens)
	out.T2QueryTokens = orZero(v.Stats.T2QueryTokens)
	if queries := orZero(v.Stats.QueryTokens); queries > 0 {
		out.HitRate = float32(min(float64(orZero(v.Stats.HitTokens))/float64(queries), 1))
	}
	return out
}

// orZero reads a value that may not have been reported, because the contract's
// fields of this message cannot be absent.
func orZero[T any](p *T) T {
	var zero T
	if p == nil {
		return zero
	}
	return *p
}
