/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"math"
	"time"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/index"
)

// statsOf takes of an engine's statistics what can be true. A scrape in the
// future, or without a time, is one of now.
func statsOf(s *pb.EngineStats, now time.Time) index.Stats {
	at := timeOf(s.GetTimeUs())
	if at.IsZero() || at.After(now) {
		at = now
	}
	out := index.Stats{
		Time:             at,
		Running:          count(s.Running),
		Waiting:          count(s.Waiting),
		CacheUsage:       measure(s.CacheUsage),
		HitTokens:        count(s.HitTokens),
		QueryTokens:      count(s.QueryTokens),
		T2HitTokens:      count(s.T2HitTokens),
		T2QueryTokens:    count(s.T2QueryTokens),
		CacheMemoryBytes: count(s.CacheMemoryBytes),
		Pressure:         measure(s.Pressure),
	}
	for _, share := range []*float64{out.CacheUsage, out.Pressure} {
		if share != nil {
			*share = min(*share, 1)
		}
	}
	return out
}

// maxCount is above what any engine counts in its life, and small enough that
// the sum over all holders stays a number.
const maxCount = 1 << 48

// count copies a counter, or drops one that counts nothing.
func count(n *int64) *int64 {
	if n == nil || *n < 0 || *n > maxCount {
		return nil
	}
	return new(*n)
}

// measure copies a number, or drops one that measures nothing.
func measure(x *float64) *float64 {
	if x == nil || math.IsNaN(*x) || math.IsInf(*x, 0) || *x < 0 {
		return nil
	}
	return new(*x)
}

// timeOf reads microseconds since 1970; 0 and what lies before is no time.
func timeOf(us int64) time.Time {
	if us <= 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}
