/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

func TestEventGate(t *testing.T) {
	const timeout = 5 * time.Minute
	run(t, map[string]judgementCase{
		"AwaitingFirstKVEvent: within the timeout": {
			facts: managed, change: silent,
			conditions: movingFor("AwaitingFirstKVEvent"),
			events:     []string{"Normal/AwaitingFirstKVEvent"},
			check:      availableAt(start),
		},
		"AwaitingFirstKVEvent: it lasts without another Event": {
			facts: managed, earlier: []change{silent}, change: later(time.Minute),
			conditions: movingFor("AwaitingFirstKVEvent"),
			check:      availableAt(start),
		},
		"AwaitingFirstKVEvent: the gate looks again when the timeout ends": {
			facts: managed, earlier: []change{silent}, change: later(timeout - 7*time.Second),
			conditions: movingFor("AwaitingFirstKVEvent"), requeue: 7 * time.Second,
		},
		"AwaitingFirstKVEvent: a flap of the store does not restart the clock": {
			facts: managed, earlier: []change{silent, all(later(time.Minute), available(0)), available(2)}, change: later(timeout - time.Minute),
			conditions: stuckFor("NoKVEventsObserved"), events: []string{"Warning/NoKVEventsObserved"},
		},
		"AwaitingFirstKVEvent: host-only waits too": {
			facts: hostOnly, change: silent,
			conditions: movingFor("AwaitingFirstKVEvent"), events: []string{"Normal/AwaitingFirstKVEvent"}, check: availableAt(start),
		},
		"AwaitingFirstKVEvent: EventsOnly waits from its first look": {
			facts: eventsOnly, change: silent,
			conditions: movingFor("AwaitingFirstKVEvent"), events: []string{"Normal/AwaitingFirstKVEvent"}, check: availableAt(start),
		},
		"AwaitingFirstKVEvent: a flip to EventsOnly starts the clock anew": {
			facts: managed, earlier: []change{silent}, change: all(later(timeout), toEventsOnly),
			conditions: movingFor("AwaitingFirstKVEvent"), check: availableAt(start.Add(timeout)),
		},
		"AwaitingFirstKVEvent: a flip to EventsOnly forgets the verdict of the old mode": {
			facts: managed, earlier: []change{silent, later(timeout)}, change: toEventsOnly,
			conditions: movingFor("AwaitingFirstKVEvent"), events: []string{"Normal/AwaitingFirstKVEvent"},
			check: availableAt(start.Add(timeout)),
		},
		"AwaitingFirstKVEvent: the index cannot be read": {
			facts: managed, earlier: []change{unread}, change: later(time.Hour),
			conditions: movingFor("AwaitingFirstKVEvent"), message: "the live index is unreachable or still being rebuilt",
		},
		"AwaitingFirstKVEvent: the index is being rebuilt": {
			facts: managed, earlier: []change{silent}, change: all(later(time.Hour), func(f *Facts) { f.Index.Complete = false }),
			conditions: movingFor("AwaitingFirstKVEvent"),
		},
		"AwaitingFirstKVEvent: the engines' sessions are being rebuilt": {
			facts: managed, earlier: []change{silent},
			change: all(later(time.Hour), func(f *Facts) {
				f.Index.Entry = &v1alpha1.CacheIndexBackend{Namespace: "team-a", Name: "shared"}
			}),
			conditions: movingFor("AwaitingFirstKVEvent"),
		},
		"KVEventsObserved: an event on the first look counts": {
			facts: managed, conditions: readyAs("KVEventsObserved"), events: []string{"Normal/KVEventsObserved"},
			check: firstEventAt(start),
		},
		"KVEventsObserved: after waiting": {
			facts: managed, earlier: []change{silent}, change: all(later(time.Minute), speaking),
			conditions: readyAs("KVEventsObserved"), events: []string{"Normal/KVEventsObserved"},
			check: firstEventAt(start.Add(time.Minute)),
		},
		"KVEventsObserved: after giving up, and without BackendRecovered": {
			facts: managed, earlier: []change{silent, later(timeout)}, change: speaking,
			conditions: readyAs("KVEventsObserved"), events: []string{"Normal/KVEventsObserved"},
		},
		"KVEventsObserved: engines that have gone change nothing": {
			facts: managed, earlier: []change{nothing}, change: all(later(time.Hour), silent),
			conditions: readyAs("KVEventsObserved"), check: firstEventAt(start),
		},
		"KVEventsObserved: an index that is lost changes nothing": {
			facts: managed, earlier: []change{nothing}, change: all(later(time.Hour), unread),
			conditions: readyAs("KVEventsObserved"),
		},
		"KVEventsObserved: host-only": {
			facts: hostOnly, conditions: readyAs("KVEventsObserved"), events: []string{"Normal/KVEventsObserved"},
		},
		"KVEventsObserved: EventsOnly": {
			facts: eventsOnly, conditions: readyAs("KVEventsObserved"), events: []string{"Normal/KVEventsObserved"},
		},
		"NoKVEventsObserved: the timeout has passed": {
			facts: managed, earlier: []change{silent}, change: later(timeout),
			conditions: stuckFor("NoKVEventsObserved"), events: []string{"Warning/NoKVEventsObserved"},
			message: "No KV event within 5m0s",
		},
		"NoKVEventsObserved: EventsOnly": {
			facts: eventsOnly, earlier: []change{silent}, change: later(timeout),
			conditions: stuckFor("NoKVEventsObserved"), events: []string{"Warning/NoKVEventsObserved"},
		},
		"NoKVEventsObserved: it stays without another Event": {
			facts: managed, earlier: []change{silent, later(timeout)}, change: later(time.Minute),
			conditions: stuckFor("NoKVEventsObserved"),
		},
		"NoKVEventsObserved: a longer timeout does not take it back": {
			facts: managed, earlier: []change{silent, later(timeout)},
			change: func(f *Facts) {
				f.Backend.Spec.Observation.FirstEventTimeout = &metav1.Duration{Duration: time.Hour}
			},
			conditions: stuckFor("NoKVEventsObserved"),
		},
		"NoKVEventsObserved: losing the index does not take it back": {
			facts: managed, earlier: []change{silent, later(timeout)}, change: unread,
			conditions: stuckFor("NoKVEventsObserved"),
		},
		"NoKVEventsObserved: the default timeout is five minutes": {
			facts: managed, earlier: []change{all(silent, func(f *Facts) { f.Backend.Spec.Observation = nil })}, change: later(timeout),
			conditions: stuckFor("NoKVEventsObserved"), events: []string{"Warning/NoKVEventsObserved"},
			message: "spec.observation.modelID is empty",
		},
		"BackendReady: require-kv-events is false": {
			facts: managed, change: all(silent, annotated(v1alpha1.AnnotationRequireKVEvents, "false")),
			conditions: readyAs("BackendReady"), check: availableAt(start),
		},
		"HostOnlyActive: require-kv-events is false": {
			facts: hostOnly, change: all(silent, annotated(v1alpha1.AnnotationRequireKVEvents, "false")),
			conditions: readyAs("HostOnlyActive"),
		},
		"EventsOnlyActive: require-kv-events is false": {
			facts: eventsOnly, change: all(silent, annotated(v1alpha1.AnnotationRequireKVEvents, "false")),
			conditions: readyAs("EventsOnlyActive"),
		},
		"AwaitingFirstKVEvent: require-kv-events says anything else": {
			facts: managed, change: all(silent, annotated(v1alpha1.AnnotationRequireKVEvents, "no")),
			conditions: movingFor("AwaitingFirstKVEvent"), events: []string{"Normal/AwaitingFirstKVEvent"},
		},
	})
}

func TestSilenceIsExplained(t *testing.T) {
	cases := map[string]judgementCase{}
	for name, tc := range map[string]struct {
		change  change
		message string
	}{
		"no selector":        {func(f *Facts) { f.Backend.Spec.EngineSelector = nil }, "spec.engineSelector claims no Pod"},
		"no model":           {func(f *Facts) { f.Backend.Spec.Observation.ModelID = "" }, "spec.observation.modelID is empty"},
		"no engine":          {func(f *Facts) { f.Engines = &Engines{Workloads: 1} }, "no Pod matches spec.engineSelector"},
		"engines are older":  {func(f *Facts) { f.Engines.Wired = 0 }, "older than the backend; restart the engines"},
		"engines are silent": {nothing, "check the engines' --kv-events-config"},
		"engines cannot be wired": {func(f *Facts) {
			f.Engines.Wired = 0
			f.Engines.LeftUnwired = []PodNote{{Pod: "b", Note: "mixed layout"}, {Pod: "a"}}
		}, "restart the engines: a, b (mixed layout)"},
	} {
		cases[name] = judgementCase{
			facts: eventsOnly, earlier: []change{silent}, change: tc.change,
			conditions: movingFor("AwaitingFirstKVEvent"), message: tc.message,
		}
	}
	run(t, cases)
}

// speaking puts the engines' first event into the index.
func speaking(f *Facts) {
	f.Index = &Index{Complete: true, Entry: &v1alpha1.CacheIndexBackend{
		Namespace: "team-a", Name: "shared", LastEventAt: &metav1.Time{Time: f.Now}, Complete: true,
	}}
}

func availableAt(want time.Time) func(*testing.T, Verdict) {
	return func(t *testing.T, v Verdict) {
		t.Helper()
		if got := v.Status.FirstAvailableAt; got == nil || !got.Time.Equal(want) {
			t.Errorf("firstAvailableAt is %v, want %s", got, want)
		}
	}
}

func firstEventAt(want time.Time) func(*testing.T, Verdict) {
	return func(t *testing.T, v Verdict) {
		t.Helper()
		if got := v.Status.FirstKVEventObservedAt; got == nil || !got.Time.Equal(want) {
			t.Errorf("firstKVEventObservedAt is %v, want %s", got, want)
		}
	}
}
