/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestOrder holds whom a lookup asks first.
func TestOrder(t *testing.T) {
	type known struct {
		name     string
		standing standing
		inFlight int64
	}
	cases := map[string]struct {
		known []known
		start int
		want  string
	}{
		"one":                  {[]known{{"a", failing, 3}}, 0, "a"},
		"by standing":          {[]known{{"a", failing, 0}, {"b", incomplete, 0}, {"c", unknown, 0}, {"d", serving, 0}}, 0, "d c b a"},
		"equal ones":           {[]known{{"a", serving, 0}, {"b", serving, 0}, {"c", serving, 0}}, 0, "a b c"},
		"from another start":   {[]known{{"a", serving, 0}, {"b", serving, 0}, {"c", serving, 0}}, 2, "c a b"},
		"the less busy of two": {[]known{{"a", serving, 5}, {"b", serving, 4}, {"c", serving, 0}}, 0, "b a c"},
		"busy but serving":     {[]known{{"a", serving, 50}, {"b", incomplete, 0}}, 1, "a b"},
		"all failing":          {[]known{{"a", failing, 1}, {"b", failing, 0}}, 0, "b a"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var peers []*peer
			for _, k := range tc.known {
				p := &peer{address: k.name}
				p.standing.Store(int32(k.standing))
				p.inFlight.Store(k.inFlight)
				peers = append(peers, p)
			}
			var got []string
			for _, p := range order(peers, tc.start) {
				got = append(got, p.address)
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
		})
	}
}

// TestHedgesAreBounded holds that slow replicas are not all asked for every lookup
// when none of them answers, and that nothing is counted for ever.
func TestHedgesAreBounded(t *testing.T) {
	ca := newAuthority(t)
	a, b := startIndex(t, ca, "a"), startIndex(t, ca, "b")
	options := testOptions(t, ca)
	options.Servers, options.Timeout, options.HealthInterval = []string{a.address, b.address}, 2*time.Second, time.Hour
	client := startClient(t, options)
	awaitLane(t, client, a)
	awaitLane(t, client, b)
	a.answers(silent)
	b.answers(silent)
	const lookups = 4 * maxHedges
	together(lookups, func(int) {
		// With text, because on a stream most would never arrive.
		if answer := client.Lookup(t.Context(), Query{Text: "hi"}); answer.Reason != Timeout {
			t.Errorf("answer %+v", answer)
		}
	})
	if asked := a.asked() + b.asked(); asked > lookups+maxHedges {
		t.Errorf("%d lookups were asked %d times", lookups, asked)
	}
	await(t, "the end of all hedges", func() bool { return client.hedges.Load() == 0 })
}
