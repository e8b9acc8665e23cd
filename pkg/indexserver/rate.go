/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"time"

	"inferencecache.io/inference-cache/pkg/index"
)

// Times between two scrapes of which a rate can be made: below, the counters'
// jumps from step to step decide, and above, nobody knows what was in between.
const (
	minRateInterval = time.Second
	maxRateInterval = 5 * time.Minute
)

// rateWeight is what a new measurement counts for against the earlier ones.
const rateWeight = 0.5

// measured adds to statistics how fast the engine computes prompts. That shows
// only while requests wait: an engine with nothing to do has no rate.
func (s *session) measured(now index.Stats) index.Stats {
	now.PrefillRate = s.scraped.PrefillRate
	if rate, ok := prefillRate(&s.scraped, &now); ok {
		if earlier := now.PrefillRate; earlier != nil {
			rate = rateWeight*rate + (1-rateWeight)**earlier
		}
		now.PrefillRate = &rate
	}
	s.scraped = now
	return now
}

// prefillRate is the prompt tokens per second that were computed between two
// scrapes: those that were asked for without those that a cache had.
func prefillRate(before, now *index.Stats) (float64, bool) {
	interval := now.Time.Sub(before.Time)
	if before.Time.IsZero() || interval < minRateInterval || interval > maxRateInterval || !waits(before) || !waits(now) {
		return 0, false
	}
	queried, ok := growth(before.QueryTokens, now.QueryTokens)
	if !ok {
		return 0, false
	}
	hits, ok := growth(before.HitTokens, now.HitTokens)
	if !ok {
		return 0, false
	}
	// Engines without a second tier count nothing there.
	loaded, _ := growth(before.T2HitTokens, now.T2HitTokens)
	if computed := queried - hits - loaded; computed > 0 {
		return float64(computed) / interval.Seconds(), true
	}
	return 0, false
}

func waits(s *index.Stats) bool { return s.Waiting != nil && *s.Waiting > 0 }

// growth is how much a counter grew; one that was reset did not.
func growth(before, now *int64) (int64, bool) {
	if before == nil || now == nil || *now < *before {
		return 0, false
	}
	return *now - *before, true
}
