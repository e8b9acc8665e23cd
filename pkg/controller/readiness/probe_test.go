/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	"maps"
	"strings"
	"testing"
	"unicode/utf8"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// with adds expectations to those of another table.
func with(conditions map[string]string, more ...string) map[string]string {
	all := maps.Clone(conditions)
	for i := 0; i < len(more); i += 2 {
		all[more[i]] = more[i+1]
	}
	return all
}

// downgraded are the conditions of a backend whose store is well and that does not
// serve for a reason.
func downgraded(reason string) map[string]string {
	return map[string]string{
		v1alpha1.ConditionReady:       "False/" + reason,
		v1alpha1.ConditionDegraded:    "False/NotDegraded",
		v1alpha1.ConditionProgressing: "False/Synced",
	}
}

func TestProbeGate(t *testing.T) {
	const probe = v1alpha1.ConditionFunctionalProbeOK
	result := func(ingest, routing, t2 StageResult) change {
		return func(f *Facts) { f.Probe.Stages = stages(ingest, routing, t2) }
	}
	unreachable := func(f *Facts) { f.Probe.Stages, f.Probe.Failure = nil, "connection refused" }
	bypassed := annotated(v1alpha1.AnnotationSkipFunctionalProbe, "true")
	ready := readyAs("KVEventsObserved")

	run(t, map[string]judgementCase{
		"ProbeOK: every stage works": {
			facts: managed, earlier: []change{silent}, change: all(speaking, result(StageOK, StageOK, StageOK)),
			conditions: with(ready, probe, "True/ProbeOK"), events: []string{"Normal/KVEventsObserved"},
		},
		"ProbeOK: a stage that does not apply is skipped": {
			facts: managed, earlier: []change{nothing}, change: result(StageOK, StageOK, StageSkipped),
			conditions: with(ready, probe, "True/ProbeOK"),
		},
		"ProbeOK: a failure ends when its stage works": {
			facts: managed, earlier: []change{result(StageOK, StageFailed, StageOK)}, change: result(StageOK, StageOK, StageOK),
			conditions: with(ready, probe, "True/ProbeOK"),
		},
		"ProbeOK: a failure ends when its stage does not apply any more": {
			facts: managed, earlier: []change{result(StageOK, StageOK, StageFailed)}, change: result(StageOK, StageOK, StageSkipped),
			conditions: with(ready, probe, "True/ProbeOK"),
		},
		"ProbeIngestFailed": {
			facts: managed, earlier: []change{nothing}, change: result(StageFailed, StageFailed, StageOK),
			conditions: with(downgraded("ProbeIngestFailed"), probe, "False/ProbeIngestFailed"),
			message:    "Events do not reach the index; look at the API server's log. Stage ingest: seen",
		},
		"ProbeRoutingFailed": {
			facts: managed, earlier: []change{nothing}, change: result(StageOK, StageFailed, StageFailed),
			conditions: with(downgraded("ProbeRoutingFailed"), probe, "False/ProbeRoutingFailed"),
		},
		"ProbeT2Failed": {
			facts: managed, earlier: []change{nothing}, change: result(StageOK, StageOK, StageFailed),
			conditions: with(downgraded("ProbeT2Failed"), probe, "False/ProbeT2Failed"),
			message:    "look at its Pods",
		},
		"ProbeT2Failed: a failure is worse than what is unknown": {
			facts: managed, earlier: []change{nothing}, change: result(StageUnknown, StageOK, StageFailed),
			conditions: with(downgraded("ProbeT2Failed"), probe, "False/ProbeT2Failed"),
		},
		"ProbeT2Failed: it stands when the probe cannot be made": {
			facts: managed, earlier: []change{result(StageOK, StageOK, StageFailed)}, change: unreachable,
			conditions: with(downgraded("ProbeT2Failed"), probe, "False/ProbeT2Failed"),
		},
		"ProbeT2Failed: it stands when its stage could not be tried": {
			facts: managed, earlier: []change{result(StageOK, StageOK, StageFailed)}, change: result(StageOK, StageOK, StageUnknown),
			conditions: with(downgraded("ProbeT2Failed"), probe, "False/ProbeT2Failed"),
		},
		"ProbeT2Failed: it stands between two probes": {
			facts: managed, earlier: []change{result(StageOK, StageOK, StageFailed)}, change: unprobed,
			conditions: with(downgraded("ProbeT2Failed"), probe, "False/ProbeT2Failed"),
		},
		"ProbeError: the probe cannot be made": {
			facts: managed, earlier: []change{nothing}, change: unreachable,
			conditions: with(ready, probe, "Unknown/ProbeError"), messageOf: probe, message: "connection refused; look at",
		},
		"ProbeError: the first probe cannot be made": {
			facts: managed, change: unreachable,
			conditions: with(ready, probe, "Unknown/ProbeError"), events: []string{"Normal/KVEventsObserved"},
		},
		"ProbeError: a stage that applies could not be tried": {
			facts: managed, earlier: []change{nothing}, change: result(StageOK, StageOK, StageUnknown),
			conditions: with(ready, probe, "Unknown/ProbeError"), messageOf: probe, message: "Stage t2: seen",
		},
		"ProbeError: a failure of another stage has ended": {
			facts: managed, earlier: []change{result(StageFailed, StageOK, StageOK)}, change: result(StageOK, StageOK, StageUnknown),
			conditions: with(ready, probe, "Unknown/ProbeError"),
		},
		"between two probes the last one stands": {
			facts: managed, earlier: []change{nothing}, change: unprobed,
			conditions: with(ready, probe, "True/ProbeOK"),
		},
		"RolloutInProgress: the first probe has not ended": {
			facts: managed, change: unprobed, events: []string{"Normal/KVEventsObserved"},
			conditions: with(movingFor("RolloutInProgress"), probe, ""), message: "first functional probe has not ended",
		},
		"RolloutInProgress: the last probe knew another spec": {
			facts: managed, earlier: []change{nothing, available(0)},
			change:     all(unprobed, available(2), func(f *Facts) { f.Backend.Generation++ }),
			conditions: with(movingFor("RolloutInProgress"), probe, "True/ProbeOK"),
		},
		"the last probe stands after an outage": {
			facts: managed, earlier: []change{nothing, available(0)}, change: all(unprobed, available(2)),
			conditions: with(ready, probe, "True/ProbeOK"), events: []string{"Normal/BackendRecovered"},
		},
		"probes are switched on: what is ready stays so": {
			facts: managed, earlier: []change{func(f *Facts) { f.Probe = Probe{} }}, change: func(f *Facts) { f.Probe.Enabled = true },
			conditions: with(ready, probe, ""),
		},
		"the gate asks nothing of a store that is not up": {
			facts: managed, earlier: []change{nothing}, change: all(available(0), result(StageFailed, StageOK, StageOK)),
			conditions: with(stuckFor("ReplicasUnavailable"), probe, "True/ProbeOK"), events: []string{"Warning/BackendDegraded"},
		},
		"ProbeBypassed: the annotation": {
			facts: managed, earlier: []change{result(StageOK, StageOK, StageFailed)}, change: all(bypassed, unprobed),
			conditions: with(ready, probe, "True/ProbeBypassed"),
		},
		"ProbeBypassed: while the store is not up": {
			facts: managed, change: all(bypassed, available(0)),
			conditions: with(movingFor("RolloutInProgress"), probe, "True/ProbeBypassed"),
		},
		"ProbeBypassed: it goes with the annotation": {
			facts: managed, earlier: []change{bypassed},
			change:     all(annotated(v1alpha1.AnnotationSkipFunctionalProbe, "false"), unprobed),
			conditions: with(ready, probe, ""),
		},
		"probes are off: a condition of before is cleared": {
			facts: managed, earlier: []change{result(StageOK, StageOK, StageFailed)}, change: func(f *Facts) { f.Probe = Probe{} },
			conditions: with(ready, probe, ""),
		},
		"host-only is not probed": {
			facts: hostOnly, earlier: []change{nothing}, change: func(f *Facts) { f.Probe = Probe{Enabled: true, Stages: stages(StageFailed, StageOK, StageOK)} },
			conditions: with(ready, probe, ""),
		},
		"the message of a stage is cut": {
			facts: managed, earlier: []change{nothing},
			change: func(f *Facts) {
				f.Probe.Stages = []ProbeStage{{Name: StageT2, Result: StageFailed, Message: strings.Repeat("ä", 2*maxProbeMessage)}}
			},
			conditions: downgraded("ProbeT2Failed"), message: "…",
			check: func(t *testing.T, v Verdict) {
				_, said, _ := strings.Cut(messageOf(v, ""), "Stage t2: ")
				if n := utf8.RuneCountInString(said); n != maxProbeMessage {
					t.Errorf("%d characters are left, want %d", n, maxProbeMessage)
				}
			},
		},
	})
}

func TestProbeDue(t *testing.T) {
	tests := map[string]struct {
		facts  func() Facts
		change change
		want   bool
	}{
		"all gates before it are satisfied": {managed, nothing, true},
		"the store is not up":               {managed, available(0), false},
		"no event was seen":                 {managed, silent, false},
		"nobody asks for events":            {managed, all(silent, annotated(v1alpha1.AnnotationRequireKVEvents, "false")), true},
		"probes are off":                    {managed, func(f *Facts) { f.Probe.Enabled = false }, false},
		"the annotation":                    {managed, annotated(v1alpha1.AnnotationSkipFunctionalProbe, "true"), false},
		"another owner":                     {managed, func(f *Facts) { f.Conflict = &Conflict{} }, false},
		"an External store":                 {external, func(f *Facts) { f.Probe.Enabled = true }, false},
		"host-only":                         {hostOnly, func(f *Facts) { f.Probe.Enabled = true }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			facts := tc.facts()
			tc.change(&facts)
			if got := ProbeDue(facts); got != tc.want {
				t.Errorf("ProbeDue is %t, want %t", got, tc.want)
			}
		})
	}
}
