/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"google.golang.org/grpc/codes"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/indexserver/indexservertest"
)

// fleetMetrics are what is scraped after TestMetrics' calls.
const fleetMetrics = `
# HELP inferencecache_index_blocks Blocks that the holders have, by tier. One that several holders have counts for each.
# TYPE inferencecache_index_blocks gauge
inferencecache_index_blocks{tier="T1"} 2
inferencecache_index_blocks{tier="T2"} 1
inferencecache_index_blocks{tier="T3"} 0
# HELP inferencecache_index_complete 1 while the index has the state of every holder, else 0.
# TYPE inferencecache_index_complete gauge
inferencecache_index_complete 1
# HELP inferencecache_index_evictions_total Blocks that the index forgot, by the order in which (lru, lfu) and the reason why: cap for its memory or a quota, ttl.
# TYPE inferencecache_index_evictions_total counter
inferencecache_index_evictions_total{algorithm="lfu",reason="cap"} 0
inferencecache_index_evictions_total{algorithm="lfu",reason="ttl"} 0
inferencecache_index_evictions_total{algorithm="lru",reason="cap"} 0
inferencecache_index_evictions_total{algorithm="lru",reason="ttl"} 0
# HELP inferencecache_index_holders Engine ranks that the index knows, by state.
# TYPE inferencecache_index_holders gauge
inferencecache_index_holders{state="Degraded"} 0
inferencecache_index_holders{state="Live"} 3
inferencecache_index_holders{state="Rebuilding"} 0
inferencecache_index_holders{state="Suspect"} 0
# HELP inferencecache_lookup_streams Open lookup streams.
# TYPE inferencecache_lookup_streams gauge
inferencecache_lookup_streams 0
# HELP inferencecache_lookups_total Answered lookups by reason code.
# TYPE inferencecache_lookups_total counter
inferencecache_lookups_total{reason="AFFINITY_HINT"} 0
inferencecache_lookups_total{reason="NO_HINT"} 2
inferencecache_lookups_total{reason="POLICY_REQUIRES_CHAIN"} 0
inferencecache_lookups_total{reason="PREFIX_MATCH"} 1
inferencecache_lookups_total{reason="TENANT_HOT"} 0
inferencecache_lookups_total{reason="TIMEOUT"} 0
inferencecache_lookups_total{reason="UNKNOWN_HASH_SCHEME"} 0
inferencecache_lookups_total{reason="UNKNOWN_MODEL"} 0
inferencecache_lookups_total{reason="UNKNOWN_TENANT"} 0
# HELP inferencecache_report_blocks_total Blocks in deltas and snapshots that were applied, by what was done with them.
# TYPE inferencecache_report_blocks_total counter
inferencecache_report_blocks_total{change="removed"} 0
inferencecache_report_blocks_total{change="stored"} 3
# HELP inferencecache_report_deltas_total Deltas by what became of them.
# TYPE inferencecache_report_deltas_total counter
inferencecache_report_deltas_total{outcome="applied"} 2
inferencecache_report_deltas_total{outcome="duplicate"} 0
inferencecache_report_deltas_total{outcome="gap"} 0
inferencecache_report_deltas_total{outcome="ignored"} 0
inferencecache_report_deltas_total{outcome="invalid"} 0
# HELP inferencecache_report_streams Open report streams.
# TYPE inferencecache_report_streams gauge
inferencecache_report_streams 3
# HELP inferencecache_unauthenticated_calls_total Calls without a token or with one that was not taken.
# TYPE inferencecache_unauthenticated_calls_total counter
inferencecache_unauthenticated_calls_total{token="missing"} 1
inferencecache_unauthenticated_calls_total{token="refused"} 0
inferencecache_unauthenticated_calls_total{token="unasked"} 0
inferencecache_unauthenticated_calls_total{token="undecided"} 0
`

func TestMetrics(t *testing.T) {
	s := startWithFleet(t)
	lookup(t, s, &pb.LookupRouteRequest{TenantId: "team", ModelId: "llama", PackedBlockHashes: indexservertest.Pack(11, 12)})
	lookup(t, s, &pb.LookupRouteRequest{TenantId: "team", ModelId: "llama"})
	lookup(t, s, &pb.LookupRouteRequest{TenantId: "team", ModelId: "llama", PromptText: "hi"})
	if _, err := pb.NewInferenceCacheClient(s.DialWith(t)).LookupRoute(t.Context(), &pb.LookupRouteRequest{}); err == nil {
		t.Fatal("a lookup without a token was answered")
	}
	if err := testutil.GatherAndCompare(s.Metrics, strings.NewReader(fleetMetrics),
		"inferencecache_index_blocks", "inferencecache_index_complete", "inferencecache_index_evictions_total", "inferencecache_index_holders", "inferencecache_lookup_streams", "inferencecache_lookups_total",
		"inferencecache_report_blocks_total", "inferencecache_report_deltas_total", "inferencecache_report_streams",
		"inferencecache_unauthenticated_calls_total"); err != nil {
		t.Error(err)
	}
	problems, err := testutil.GatherAndLint(s.Metrics)
	if err != nil || len(problems) > 0 {
		t.Errorf("metric names and help: %v %v", problems, err)
	}
}

func TestEndedStreamsAreCountedByCode(t *testing.T) {
	s := indexservertest.Start(t)
	stream := seed(t, s, 11)
	stream.Delta(3)
	stream.Delta(0)
	wantEnd(t, stream, codes.InvalidArgument, "delta.sequence")
	want := `
# HELP inferencecache_report_resyncs_total Snapshots asked for because of a hole, by the message that showed it.
# TYPE inferencecache_report_resyncs_total counter
inferencecache_report_resyncs_total{cause="delta"} 1
inferencecache_report_resyncs_total{cause="heartbeat"} 0
# HELP inferencecache_report_stream_ends_total Ended report streams by gRPC code.
# TYPE inferencecache_report_stream_ends_total counter
inferencecache_report_stream_ends_total{code="InvalidArgument"} 1
`
	if err := testutil.GatherAndCompare(s.Metrics, strings.NewReader(want),
		"inferencecache_report_resyncs_total", "inferencecache_report_stream_ends_total"); err != nil {
		t.Error(err)
	}
}
