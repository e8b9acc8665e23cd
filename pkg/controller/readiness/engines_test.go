/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"
)

func TestMatchedEnginePods(t *testing.T) {
	none := func(workloads, desired int32) change {
		return func(f *Facts) { f.Engines = &Engines{Workloads: workloads, Desired: desired} }
	}
	unclaimed := func(f *Facts) { f.Backend.Spec.EngineSelector = nil }
	empty := func(f *Facts) { f.Backend.Spec.EngineSelector.MatchLabels = nil }
	relabelled := func(f *Facts) {
		f.Backend.Spec.EngineSelector.MatchLabels = map[string]string{"app": "qwen", "zone": "a"}
	}
	const message = "spec.engineSelector.matchLabels={app=llama} matches no Pod in namespace team-a; " +
		"correct it, or give the engines' Pod template these labels"
	unmatched := []string{"Normal/EngineSelectorUnmatched"}

	tests := map[string]struct {
		earlier []change
		change  change
		matched *int32
		message string
		events  []string
	}{
		"counted":                             {change: nothing, matched: ptr.To[int32](2)},
		"nil: not computed yet":               {change: unlisted},
		"nil: no selector":                    {change: unclaimed},
		"nil: an empty selector":              {change: empty},
		"nil: the selector went away":         {earlier: []change{none(1, 2)}, change: unclaimed},
		"kept: Pods cannot be listed":         {earlier: []change{nothing}, change: unlisted, matched: ptr.To[int32](2)},
		"zero: the first look":                {change: none(1, 2), matched: ptr.To[int32](0), message: message, events: unmatched},
		"zero: no workload either":            {change: none(0, 0), matched: ptr.To[int32](0), message: message, events: unmatched},
		"zero: from some":                     {earlier: []change{nothing}, change: none(1, 2), matched: ptr.To[int32](0), message: message, events: unmatched},
		"zero: it lasts":                      {earlier: []change{none(1, 2)}, change: nothing, matched: ptr.To[int32](0), message: message},
		"zero: the engines are scaled to it":  {earlier: []change{nothing}, change: none(1, 0), matched: ptr.To[int32](0)},
		"zero: they are not any more":         {earlier: []change{none(1, 0)}, change: none(1, 1), matched: ptr.To[int32](0), message: message, events: unmatched},
		"zero: kept while Pods are not known": {earlier: []change{none(1, 2)}, change: unlisted, matched: ptr.To[int32](0), message: message},
		"zero: a status without the message":  {earlier: []change{none(1, 0), nothing}, change: none(1, 1), matched: ptr.To[int32](0), message: message, events: unmatched},
		"zero: another selector": {
			earlier: []change{none(1, 2)}, change: relabelled, matched: ptr.To[int32](0), events: unmatched,
			message: "spec.engineSelector.matchLabels={app=qwen,zone=a} matches no Pod in namespace team-a; " +
				"correct it, or give the engines' Pod template these labels",
		},
		"some: the message goes": {earlier: []change{none(1, 2)}, change: func(f *Facts) { f.Engines.Matched = 1 }, matched: ptr.To[int32](1)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			// An External backend has no other Events.
			verdict := judgementCase{facts: external, earlier: tc.earlier, change: tc.change}.play(t)
			if diff := cmp.Diff(tc.matched, verdict.Status.MatchedEnginePods); diff != "" {
				t.Errorf("matchedEnginePods (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.message, verdict.Status.EngineSelectorMessage); diff != "" {
				t.Errorf("engineSelectorMessage (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.events, outcomeOf(verdict).Events); diff != "" {
				t.Errorf("Events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRequeue(t *testing.T) {
	run(t, map[string]judgementCase{
		"30 s: as many engines as there should be": {facts: external, requeue: SteadyInterval},
		"5 s: more or fewer":                       {facts: external, change: func(f *Facts) { f.Engines.Matched = 3 }, requeue: ChurnInterval},
		"30 s: Pods without a workload":            {facts: external, change: func(f *Facts) { f.Engines.Workloads, f.Engines.Desired = 0, 0 }, requeue: SteadyInterval},
		"30 s: Pods cannot be listed":              {facts: external, change: unlisted, requeue: SteadyInterval},
		"30 s: no selector": {
			facts: external, change: func(f *Facts) { f.Engines.Matched, f.Backend.Spec.EngineSelector = 0, nil }, requeue: SteadyInterval,
		},
		"30 s: not supported": {facts: external, change: func(f *Facts) { f.Supported = false }, requeue: SteadyInterval},
	})
}

// TestNotesOfEvents holds that no Event is too long for the API, and that none ends in
// half a character.
func TestNotesOfEvents(t *testing.T) {
	for name, message := range map[string]string{
		"short": "short", "as long as can be": strings.Repeat("x", maxEventMessage), "too long": strings.Repeat("x", maxEventMessage+1),
		"of wide characters": strings.Repeat("…", maxEventMessage), "of wider ones": "x" + strings.Repeat("𝄞", maxEventMessage),
	} {
		t.Run(name, func(t *testing.T) {
			got := noteOf(message)
			if len(got) > maxEventMessage || !utf8.ValidString(got) || len(message) <= maxEventMessage && got != message {
				t.Errorf("%d bytes became %q", len(message), got)
			}
		})
	}
}
