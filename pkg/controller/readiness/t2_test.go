/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	"testing"

	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

func TestT2Degraded(t *testing.T) {
	const t2 = v1alpha1.ConditionT2Degraded
	ready := readyAs("KVEventsObserved")
	asked := func(hits, queries int64) change {
		return func(f *Facts) { f.Index.Entry.T2HitTokens, f.Index.Entry.T2QueryTokens = ptr.To(hits), ptr.To(queries) }
	}
	run(t, map[string]judgementCase{
		"absent: no engine reports the tier": {facts: managed, earlier: []change{nothing}, conditions: with(ready, t2, "")},
		"absent: the tier was not asked": {
			facts: managed, earlier: []change{nothing}, change: asked(0, 0), conditions: with(ready, t2, ""),
		},
		"T2ZeroHitRate: asked and never served": {
			facts: managed, earlier: []change{nothing}, change: asked(0, 4096),
			conditions: with(ready, t2, "True/T2ZeroHitRate"), messageOf: t2, message: "check the store's memory", check: t2Rate("0"),
		},
		"T2Serving": {
			facts: managed, earlier: []change{nothing}, change: asked(1024, 4096),
			conditions: with(ready, t2, "False/T2Serving"), check: t2Rate("0.25"),
		},
		"T2Serving: a little is not nothing": {
			facts: managed, earlier: []change{nothing}, change: asked(1, 1<<40),
			conditions: with(ready, t2, "False/T2Serving"), check: t2Rate("0.0001"),
		},
		"T2ZeroHitRate: it stands while the index cannot be read": {
			facts: managed, earlier: []change{nothing, asked(0, 4096)}, change: unread, conditions: with(ready, t2, "True/T2ZeroHitRate"),
		},
		"T2ZeroHitRate: it stands while the index is being rebuilt": {
			facts: managed, earlier: []change{nothing, asked(0, 4096)}, change: all(silent, func(f *Facts) { f.Index.Complete = false }),
			conditions: with(ready, t2, "True/T2ZeroHitRate"),
		},
		"absent: the engines have gone": {
			facts: managed, earlier: []change{nothing, asked(0, 4096)}, change: silent, conditions: with(ready, t2, ""),
		},
		"absent: EventsOnly has no such tier": {
			facts: eventsOnly, earlier: []change{nothing}, change: asked(0, 4096), conditions: with(ready, t2, ""),
		},
		"absent: nor has host-only": {
			facts: hostOnly, earlier: []change{nothing}, change: asked(0, 4096), conditions: with(ready, t2, ""),
		},
	})
}

func t2Rate(want string) func(*testing.T, Verdict) {
	return func(t *testing.T, v Verdict) {
		t.Helper()
		if got := ptr.Deref(v.Status.IndexParticipation.T2HitRate, "none"); got != want {
			t.Errorf("t2HitRate is %s, want %s", got, want)
		}
	}
}
