/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/index"
)

func TestStats(t *testing.T) {
	now := time.UnixMicro(1_000_000).UTC()
	tests := map[string]struct {
		in   *pb.EngineStats
		want index.Stats
	}{
		"nothing reported": {&pb.EngineStats{}, index.Stats{Time: now}},
		"everything": {
			&pb.EngineStats{
				TimeUs: 500_000, Running: new(int64(1)), Waiting: new(int64(0)), CacheUsage: new(0.5), HitTokens: new(int64(2)), QueryTokens: new(int64(3)),
				T2HitTokens: new(int64(4)), T2QueryTokens: new(int64(5)), CacheMemoryBytes: new(int64(6)), Pressure: new(1.5),
			},
			index.Stats{
				Time: time.UnixMicro(500_000).UTC(), Running: new(int64(1)), Waiting: new(int64(0)), CacheUsage: new(0.5), HitTokens: new(int64(2)), QueryTokens: new(int64(3)),
				T2HitTokens: new(int64(4)), T2QueryTokens: new(int64(5)), CacheMemoryBytes: new(int64(6)), Pressure: new(1.0),
			},
		},
		"future":       {&pb.EngineStats{TimeUs: math.MaxInt64}, index.Stats{Time: now}},
		"before 1970":  {&pb.EngineStats{TimeUs: -1}, index.Stats{Time: now}},
		"negative":     {&pb.EngineStats{Running: new(int64(-1)), Pressure: new(-0.5)}, index.Stats{Time: now}},
		"beyond sums":  {&pb.EngineStats{Running: new(int64(math.MaxInt64)), HitTokens: new(int64(maxCount + 1))}, index.Stats{Time: now}},
		"largest":      {&pb.EngineStats{QueryTokens: new(int64(maxCount))}, index.Stats{Time: now, QueryTokens: new(int64(maxCount))}},
		"not a number": {&pb.EngineStats{CacheUsage: new(math.NaN()), Pressure: new(math.NaN())}, index.Stats{Time: now}},
		"infinite":     {&pb.EngineStats{CacheUsage: new(math.Inf(1)), Pressure: new(math.Inf(1))}, index.Stats{Time: now}},
		"over-full":    {&pb.EngineStats{CacheUsage: new(1.25)}, index.Stats{Time: now, CacheUsage: new(1.0)}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, statsOf(test.in, now)); diff != "" {
				t.Errorf("stats (-want +got):\n%s", diff)
			}
		})
	}
}
