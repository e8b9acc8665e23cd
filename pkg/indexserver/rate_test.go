/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/pkg/index"
)

func TestMeasuredRate(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	scrape := func(after time.Duration, waiting, queried, hits int64) index.Stats {
		return index.Stats{Time: start.Add(after), Waiting: &waiting, QueryTokens: &queried, HitTokens: &hits}
	}
	without := func(s index.Stats, change func(*index.Stats)) index.Stats {
		change(&s)
		return s
	}
	first := scrape(0, 1, 1000, 100)
	tests := map[string]struct {
		scrapes []index.Stats
		want    *float64
	}{
		"one scrape":             {[]index.Stats{first}, nil},
		"two while busy":         {[]index.Stats{first, scrape(10*time.Second, 3, 51_000, 10_100)}, new(4000.0)},
		"idle before":            {[]index.Stats{scrape(0, 0, 1000, 100), scrape(10*time.Second, 3, 51_000, 10_100)}, nil},
		"idle after":             {[]index.Stats{first, scrape(10*time.Second, 0, 51_000, 10_100)}, nil},
		"too close":              {[]index.Stats{first, scrape(time.Second-1, 3, 51_000, 10_100)}, nil},
		"too far apart":          {[]index.Stats{first, scrape(5*time.Minute+1, 3, 51_000, 10_100)}, nil},
		"everything was cached":  {[]index.Stats{first, scrape(10*time.Second, 3, 51_000, 50_100)}, nil},
		"counters were reset":    {[]index.Stats{first, scrape(10*time.Second, 3, 500, 10)}, nil},
		"hits were reset":        {[]index.Stats{first, scrape(10*time.Second, 3, 51_000, 10)}, nil},
		"no queries reported":    {[]index.Stats{first, without(scrape(10*time.Second, 3, 51_000, 10_100), func(s *index.Stats) { s.QueryTokens = nil })}, nil},
		"no queue reported":      {[]index.Stats{first, without(scrape(10*time.Second, 3, 51_000, 10_100), func(s *index.Stats) { s.Waiting = nil })}, nil},
		"kept while idle":        {[]index.Stats{first, scrape(10*time.Second, 3, 51_000, 10_100), scrape(20*time.Second, 0, 52_000, 10_100)}, new(4000.0)},
		"smoothed over the next": {[]index.Stats{first, scrape(10*time.Second, 3, 51_000, 10_100), scrape(20*time.Second, 1, 71_000, 10_100)}, new(3000.0)},
		"without what lay in the second tier": {[]index.Stats{
			without(first, func(s *index.Stats) { s.T2HitTokens = new(int64(0)) }),
			without(scrape(10*time.Second, 3, 51_000, 10_100), func(s *index.Stats) { s.T2HitTokens = new(int64(20_000)) }),
		}, new(2000.0)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := &session{}
			var got index.Stats
			for _, scrape := range test.scrapes {
				got = s.measured(scrape)
			}
			if diff := cmp.Diff(test.want, got.PrefillRate); diff != "" {
				t.Errorf("rate (-want +got):\n%s", diff)
			}
		})
	}
}
