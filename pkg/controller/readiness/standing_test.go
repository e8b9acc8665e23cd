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

func TestEvents(t *testing.T) {
	failOpen := func(open *bool) change {
		return func(f *Facts) { f.Backend.Spec.Integration.FailOpen = open }
	}
	closed, open := failOpen(ptr.To(false)), failOpen(ptr.To(true))
	conflict := func(f *Facts) { f.Conflict = &Conflict{Kind: "Service", Name: "shared"} }
	settledConflict := func(f *Facts) { f.Conflict = nil }
	ready := readyAs("KVEventsObserved")
	run(t, map[string]judgementCase{
		"BackendRecovered: from ReplicasUnavailable": {
			facts: managed, earlier: []change{nothing, available(0)}, change: available(2), conditions: ready, events: []string{"Normal/BackendRecovered"},
		},
		"BackendRecovered: from a conflict": {
			facts: managed, earlier: []change{nothing, conflict}, change: settledConflict, conditions: ready, events: []string{"Normal/BackendRecovered"},
		},
		"BackendRecovered: not from a rollout": {
			facts: managed, earlier: []change{nothing, func(f *Facts) { f.Workload.Updated = 0 }}, change: func(f *Facts) { f.Workload.Updated = 2 },
			conditions: ready,
		},
		"BackendDegraded: not for a conflict": {facts: managed, earlier: []change{nothing}, change: conflict, conditions: stuckFor("OwnershipConflict")},
		"BackendDegraded: after NoKVEventsObserved": {
			facts: managed, earlier: []change{silent, later(time.Hour)}, change: available(0),
			conditions: stuckFor("ReplicasUnavailable"), events: []string{"Warning/BackendDegraded"},
		},
		"FailClosedEnabled: from the start": {facts: external, change: closed, events: []string{"Warning/FailClosedEnabled"}, check: failsOpen(false)},
		"FailClosedEnabled: later":          {facts: external, earlier: []change{nothing}, change: closed, events: []string{"Warning/FailClosedEnabled"}},
		"FailClosedEnabled: once":           {facts: external, earlier: []change{closed}, change: later(time.Minute), check: failsOpen(false)},
		"FailOpenRestored":                  {facts: external, earlier: []change{closed}, change: open, events: []string{"Normal/FailOpenRestored"}, check: failsOpen(true)},
		"no Event: it was open always":      {facts: external, change: failOpen(nil), check: failsOpen(true)},
	})
}

func failsOpen(want bool) func(*testing.T, Verdict) {
	return func(t *testing.T, v Verdict) {
		t.Helper()
		if diff := cmp.Diff(&want, v.Status.FailOpen); diff != "" {
			t.Errorf("failOpen (-want +got):\n%s", diff)
		}
	}
}

func TestConditionsOfShapes(t *testing.T) {
	everything := func(f *Facts) {
		f.Index.Entry.T2HitTokens, f.Index.Entry.T2QueryTokens = ptr.To[int64](1), ptr.To[int64](2)
		f.Probe = Probe{Enabled: true, Stages: stages(StageOK, StageOK, StageOK)}
		f.Engines.Kernels = []KernelCheck{{Pod: "a", State: KernelsLoaded}}
		f.Engines.CrashLoops = []PodNote{{Pod: "a"}}
	}
	tests := map[string]struct {
		facts  func() Facts
		change change
		want   []string
	}{
		"managed":                   {managed, nothing, []string{"Ready", "Degraded", "Progressing", "FunctionalProbeOK", "EngineKernelsHealthy", "T2Degraded", "EngineCompatibility"}},
		"host-only":                 {hostOnly, nothing, []string{"Ready", "Degraded", "Progressing", "EngineKernelsHealthy", "EngineCompatibility"}},
		"EventsOnly, once managed":  {managed, toEventsOnly, []string{"Ready", "Degraded", "Progressing"}},
		"External":                  {external, nothing, []string{"Ready", "Progressing"}},
		"HiCache":                   {hiCache, nothing, []string{"Ready", "EngineCompatibility"}},
		"not supported":             {managed, func(f *Facts) { f.Supported = false }, nil},
		"EventsOnly, not supported": {eventsOnly, func(f *Facts) { f.Supported = false }, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			verdict := judgementCase{facts: tc.facts, earlier: []change{everything}, change: tc.change}.play(t)
			for _, condition := range verdict.Status.Conditions {
				got = append(got, condition.Type)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			if verdict.Status.ObservedGeneration != 3 {
				t.Errorf("observedGeneration is %d, want 3", verdict.Status.ObservedGeneration)
			}
		})
	}
}

func TestTransitionTimes(t *testing.T) {
	ready := func(v Verdict) metav1.Condition {
		return v.Status.Conditions[0]
	}
	waiting := judgementCase{facts: managed, earlier: []change{available(0)}, change: all(later(time.Minute), available(2), silent, func(f *Facts) {
		f.Backend.Generation = 4
	})}.play(t)
	want := metav1.Condition{
		Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonAwaitingFirstKVEvent,
		ObservedGeneration: 4, LastTransitionTime: metav1.NewTime(start), Message: ready(waiting).Message,
	}
	if diff := cmp.Diff(want, ready(waiting)); diff != "" {
		t.Errorf("another reason with the same status (-want +got):\n%s", diff)
	}
	serves := judgementCase{facts: managed, earlier: []change{available(0)}, change: all(later(1500*time.Millisecond), available(2))}.play(t)
	if got := ready(serves).LastTransitionTime; !got.Time.Equal(start.Add(time.Second)) {
		t.Errorf("the status changed at %s, want the whole second of the look", got)
	}
}

func TestShapeOf(t *testing.T) {
	tests := map[string]struct {
		facts     func() Facts
		supported bool
		change    change
		want      Shape
	}{
		"EventsOnly with an adapter":    {eventsOnly, true, nothing, ShapeEventsOnly},
		"EventsOnly without an adapter": {eventsOnly, false, nothing, ShapeUnsupported},
		"EventsOnly comes before a store that admission would refuse": {managed, true, func(f *Facts) {
			f.Backend.Spec.Integration.Mode = v1alpha1.IntegrationModeEventsOnly
		}, ShapeEventsOnly},
		"no adapter":                  {managed, false, nothing, ShapeUnsupported},
		"External":                    {external, true, nothing, ShapeExternal},
		"Managed":                     {managed, true, nothing, ShapeManaged},
		"Managed in a StatefulSet":    {managed, true, func(f *Facts) { f.Backend.Spec.DeploymentKind = v1alpha1.DeploymentKindStatefulSet }, ShapeManaged},
		"no store, SGLangHiCache":     {hiCache, true, nothing, ShapeHiCache},
		"no store":                    {hostOnly, true, nothing, ShapeHostOnly},
		"no store, nothing filled in": {hostOnly, true, func(f *Facts) { f.Backend.Spec.Integration = nil }, ShapeHostOnly},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			facts := tc.facts()
			tc.change(&facts)
			if got := ShapeOf(facts.Backend, tc.supported); got != tc.want {
				t.Errorf("shape is %s, want %s", got, tc.want)
			}
		})
	}
}
