/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

func TestIndexParticipation(t *testing.T) {
	at := func(d time.Duration) *metav1.Time { return &metav1.Time{Time: start.Add(d)} }
	entry := func(prefixes int64, last *metav1.Time) change {
		return func(f *Facts) {
			f.Index = &Index{Complete: true, Entry: &v1alpha1.CacheIndexBackend{PrefixCount: prefixes, LastEventAt: last, Complete: true}}
		}
	}
	counters := func(hit, query, t2Hit, t2Query int64) change {
		return func(f *Facts) {
			f.Index.Entry.HitTokens, f.Index.Entry.QueryTokens = &hit, &query
			f.Index.Entry.T2HitTokens, f.Index.Entry.T2QueryTokens = &t2Hit, &t2Query
		}
	}
	rebuilding := func(f *Facts) { f.Index.Entry.Complete = false }
	incomplete := func(f *Facts) { f.Index.Complete = false }
	type part = v1alpha1.IndexParticipation

	tests := map[string]struct {
		earlier []change
		change  change
		want    *part
	}{
		"absent: the index was never read":         {change: unread},
		"absent: it was read and names no engine":  {change: silent},
		"an entry is taken over":                   {change: nothing, want: &part{PrefixCount: 40, LastEventAt: at(0)}},
		"an entry without an event":                {change: entry(0, nil), want: &part{}},
		"kept: the index cannot be read":           {earlier: []change{nothing}, change: unread, want: &part{PrefixCount: 40, LastEventAt: at(0)}},
		"reset: the engines have gone":             {earlier: []change{nothing}, change: silent, want: &part{}},
		"kept: they are missing while it rebuilds": {earlier: []change{nothing}, change: all(silent, incomplete), want: &part{PrefixCount: 40, LastEventAt: at(0)}},
		"added to: a session is being rebuilt": {
			earlier: []change{all(entry(40, at(0)), counters(1, 2, 0, 8))}, change: all(entry(7, at(time.Minute)), rebuilding),
			want: &part{PrefixCount: 40, LastEventAt: at(time.Minute), HitRate: ptr.To("0.5"), T2HitRate: ptr.To("0")},
		},
		"added to: it has no event yet": {
			earlier: []change{nothing}, change: all(entry(55, nil), rebuilding), want: &part{PrefixCount: 55, LastEventAt: at(0)},
		},
		"rates are decimals of four digits": {
			change: counters(1, 3, 2, 3), want: &part{PrefixCount: 40, LastEventAt: at(0), HitRate: ptr.To("0.3333"), T2HitRate: ptr.To("0.6667")},
		},
		"rates are at most one": {
			change: counters(9, 3, 0, 0), want: &part{PrefixCount: 40, LastEventAt: at(0), HitRate: ptr.To("1")},
		},
		"parts of a second are dropped": {
			change: entry(1, at(1500*time.Millisecond)), want: &part{PrefixCount: 1, LastEventAt: at(time.Second)},
		},
		"not written: a little within a minute": {
			earlier: []change{nothing}, change: all(later(10*time.Second), entry(42, at(10*time.Second))), want: &part{PrefixCount: 40, LastEventAt: at(0)},
		},
		"written: much": {
			earlier: []change{nothing}, change: all(later(10*time.Second), entry(45, at(10*time.Second))), want: &part{PrefixCount: 45, LastEventAt: at(10 * time.Second)},
		},
		"written: a minute of events": {
			earlier: []change{nothing}, change: all(later(time.Minute), entry(41, at(time.Minute))), want: &part{PrefixCount: 41, LastEventAt: at(time.Minute)},
		},
		"written: the events have ended": {
			earlier: []change{nothing}, change: all(later(2*time.Minute), entry(41, at(10*time.Second))), want: &part{PrefixCount: 41, LastEventAt: at(10 * time.Second)},
		},
		"written: another count at the same event": {
			earlier: []change{nothing}, change: entry(39, at(0)), want: &part{PrefixCount: 39, LastEventAt: at(0)},
		},
		"written: the second tier serves for the first time": {
			earlier: []change{all(entry(40, at(0)), counters(0, 9, 0, 8))},
			change:  all(later(time.Second), entry(40, at(time.Second)), counters(0, 9, 4, 8)),
			want:    &part{PrefixCount: 40, LastEventAt: at(time.Second), HitRate: ptr.To("0"), T2HitRate: ptr.To("0.5")},
		},
		"kept up when the pair is not supported": {
			change: func(f *Facts) { f.Supported = false }, want: &part{PrefixCount: 40, LastEventAt: at(0)},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := judgementCase{facts: external, earlier: tc.earlier, change: tc.change}.play(t).Status.IndexParticipation
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("indexParticipation (-want +got):\n%s", diff)
			}
		})
	}
}
