/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/indexserver/indexservertest"
)

// startWithFleet runs a server with two ranks of one Pod that share a block, and
// an engine of another tenant.
func startWithFleet(t *testing.T) *indexservertest.Instance {
	t.Helper()
	s := indexservertest.Start(t)
	seed(t, s, 11, 12)
	second := indexservertest.Hello()
	second.Holder.Rank, second.ClientVersion, second.Epoch = 1, "v1", 7
	stream, _ := s.Open(t, second)
	inT2 := indexservertest.Store(11)
	inT2.GetStore().Tier = pb.CacheTier_CACHE_TIER_T2
	stream.Delta(1, append(indexservertest.Declare(blockSize), inT2)...)
	stream.Acked(1)
	stream.Send(&pb.ReportRequest{Message: &pb.ReportRequest_Stats{Stats: &pb.EngineStats{
		TimeUs: math.MaxInt64, Running: new(int64(-1)), CacheUsage: new(1.5), Pressure: new(math.NaN()), CacheMemoryBytes: new(int64(1 << 30)),
		HitTokens: new(int64(25)), QueryTokens: new(int64(100)), T2HitTokens: new(int64(3)), T2QueryTokens: new(int64(4)),
	}}})
	stream.Heartbeat(1)
	stream.Acked(1)
	other := indexservertest.Hello()
	other.TenantId, other.Holder.Pod = "others", "engine-1"
	s.Open(t, other)
	return s
}

func TestCacheState(t *testing.T) {
	s := startWithFleet(t)
	first := &pb.ReplicaStats{ReplicaId: "engine-0", Namespace: "team", Pod: "engine-0", State: "Live", PrefixCount: 2, T1Blocks: 2, Epoch: 1, Sequence: 1}
	second := &pb.ReplicaStats{
		ReplicaId: "engine-0/1", Namespace: "team", Pod: "engine-0", Rank: 1, State: "Live", PrefixCount: 1, T2Blocks: 1, Epoch: 7, Sequence: 1,
		CacheMemoryBytes: 1 << 30, HitRate: 0.25, ClientVersion: "v1", T2HitTokens: 3, T2QueryTokens: 4,
	}
	other := &pb.ReplicaStats{ReplicaId: "engine-1", Namespace: "team", Pod: "engine-1", State: "Live", Epoch: 1}
	tests := map[string]struct {
		tenant, model string
		want          []*pb.ReplicaStats
		prefixes      int64
	}{
		"model":         {"team", "llama", []*pb.ReplicaStats{first, second}, 2},
		"unknown model": {"team", "none", nil, 0},
		"other tenant":  {"others", "llama", []*pb.ReplicaStats{other}, 0},
		"everything":    {"", "", []*pb.ReplicaStats{first, second, other}, 2},
	}
	client := s.Client(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := client.GetCacheState(t.Context(), &pb.GetCacheStateRequest{TenantId: test.tenant, ModelId: test.model})
			if err != nil {
				t.Fatal(err)
			}
			want := &pb.GetCacheStateResponse{Replicas: test.want, Summary: &pb.CacheSummary{TotalPrefixes: test.prefixes}}
			if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
				t.Errorf("state (-want +got):\n%s", diff)
			}
		})
	}
}
