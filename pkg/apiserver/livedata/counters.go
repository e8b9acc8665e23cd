/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package livedata

import (
	"math"
	"strconv"
	"time"

	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/index"
)

// counters adds up what several engine ranks report of themselves. A field is
// nil until a rank has reported it.
type counters struct {
	hitTokens, queryTokens     *int64
	t2HitTokens, t2QueryTokens *int64
	cacheMemoryBytes           *int64
	// pressure is that of the most loaded rank: an average would hide it.
	pressure *float64

	prefixes              int64
	blocks                [3]int64
	firstEvent, lastEvent time.Time
	exact, complete       bool
	lastReport            time.Time
}

func newCounters() *counters {
	return &counters{exact: true, complete: true}
}

func (c *counters) add(v *index.HolderView) {
	c.prefixes += v.Prefixes
	for tier, n := range v.Blocks {
		c.blocks[tier] += n
	}
	if !v.FirstEvent.IsZero() && (c.firstEvent.IsZero() || v.FirstEvent.Before(c.firstEvent)) {
		c.firstEvent = v.FirstEvent
	}
	c.lastEvent = later(c.lastEvent, v.LastEvent)
	c.lastReport = later(c.lastReport, v.LastEvent)
	c.exact = c.exact && v.Exact()
	c.complete = c.complete && v.State != index.Rebuilding && v.State != index.Suspect
	if v.Stats != nil {
		c.addStats(v.Stats)
	}
}

func (c *counters) addStats(s *index.Stats) {
	c.lastReport = later(c.lastReport, s.Time)
	addTo(&c.hitTokens, s.HitTokens)
	addTo(&c.queryTokens, s.QueryTokens)
	addTo(&c.t2HitTokens, s.T2HitTokens)
	addTo(&c.t2QueryTokens, s.T2QueryTokens)
	addTo(&c.cacheMemoryBytes, s.CacheMemoryBytes)
	if s.Pressure != nil && (c.pressure == nil || *s.Pressure > *c.pressure) {
		c.pressure = ptr.To(*s.Pressure)
	}
}

// hitRate is the share of queried tokens that were found, nil without queries.
func (c *counters) hitRate() *string {
	if c.hitTokens == nil || ptr.Deref(c.queryTokens, 0) <= 0 {
		return nil
	}
	rate := float64(*c.hitTokens) / float64(*c.queryTokens)
	return decimal(&rate)
}

func addTo(sum **int64, n *int64) {
	if n == nil {
		return
	}
	if *sum == nil {
		*sum = new(int64)
	}
	**sum += *n
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// decimal writes a number as the API does: as text, since JSON numbers are not
// the same everywhere, with at most four digits after the point.
func decimal(f *float64) *string {
	if f == nil || math.IsNaN(*f) || math.IsInf(*f, 0) {
		return nil
	}
	const scale = 1e4
	return ptr.To(strconv.FormatFloat(math.Round(*f*scale)/scale, 'f', -1, 64))
}
