/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	"fmt"
	"strings"
	"testing"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

func TestEngineCompatibility(t *testing.T) {
	const compatibility = v1alpha1.ConditionEngineCompatibility
	ready := readyAs("KVEventsObserved")
	crash := func(f *Facts) { f.Engines.CrashLoops = []PodNote{{Pod: "b", Note: "exit 1"}, {Pod: "a"}} }
	mixed := func(f *Facts) {
		f.Engines.Layouts = []PodNote{{Pod: "a", Note: "hybrid on"}, {Pod: "b", Note: "hybrid off"}, {Pod: "c", Note: "hybrid on"}}
	}
	crashes := []string{"Warning/InjectedEngineCrashLooping"}

	run(t, map[string]judgementCase{
		"MixedKVLayouts: as many as there are engines": {
			facts: managed, earlier: []change{nothing}, change: func(f *Facts) {
				for i := range 1000 {
					f.Engines.Layouts = append(f.Engines.Layouts, PodNote{Pod: fmt.Sprint("pod-", i), Note: fmt.Sprint(i, strings.Repeat("x", 1<<16))})
				}
			},
			conditions: with(ready, compatibility, "False/MixedKVLayouts"), messageOf: compatibility, message: "; and 997 more",
		},
		"absent: no engine crashes": {facts: managed, earlier: []change{crash}, change: func(f *Facts) { f.Engines.CrashLoops = nil },
			conditions: with(ready, compatibility, "")},
		"InjectedEngineCrashLooping: it never gates": {
			facts: managed, earlier: []change{nothing}, change: crash, events: crashes,
			conditions: with(ready, compatibility, "False/InjectedEngineCrashLooping"), messageOf: compatibility, message: "a, b (exit 1)",
		},
		"InjectedEngineCrashLooping: one Event for each time": {
			facts: managed, earlier: []change{nothing, crash}, change: later(SteadyInterval),
			conditions: with(ready, compatibility, "False/InjectedEngineCrashLooping"),
		},
		"InjectedEngineCrashLooping: it stands while Pods cannot be listed": {
			facts: managed, earlier: []change{nothing, crash}, change: unlisted,
			conditions: with(ready, compatibility, "False/InjectedEngineCrashLooping"),
		},
		"InjectedEngineCrashLooping: vLLM is told of the load failure policy": {
			facts: hostOnly, earlier: []change{nothing}, change: all(crash, func(f *Facts) { f.Backend.Spec.Runtime = v1alpha1.RuntimeVLLM }), events: crashes,
			conditions: with(ready, compatibility, "False/InjectedEngineCrashLooping"),
			messageOf:  compatibility, message: "inferencecache.io/kv-load-failure-policy=omit",
		},
		"InjectedEngineCrashLooping: HiCache": {
			facts: hiCache, change: crash, events: crashes,
			conditions: map[string]string{v1alpha1.ConditionReady: "True/HiCacheActive", compatibility: "False/InjectedEngineCrashLooping"},
			messageOf:  compatibility, message: "its memory holds spec.hiCache",
		},
		"absent: EventsOnly injects nothing that crashes": {
			facts: eventsOnly, earlier: []change{nothing}, change: crash, conditions: with(ready, compatibility, ""),
		},
		"absent: External crashes are their owner's": {
			facts: external, change: crash,
			conditions: map[string]string{v1alpha1.ConditionReady: "True/ExternalEndpointAccepted", compatibility: ""},
		},
		"MixedKVLayouts: wrong output comes before a crash": {
			facts: managed, earlier: []change{nothing}, change: all(mixed, crash),
			conditions: with(ready, compatibility, "False/MixedKVLayouts"),
			messageOf:  compatibility, message: "hybrid on in a, c; hybrid off in b",
		},
		"MixedKVLayouts: an External store is shared too": {
			facts: external, change: mixed,
			conditions: map[string]string{v1alpha1.ConditionReady: "True/ExternalEndpointAccepted", compatibility: "False/MixedKVLayouts"},
		},
		"absent: host-only engines share no store": {
			facts: hostOnly, earlier: []change{nothing}, change: mixed, conditions: with(ready, compatibility, ""),
		},
		"absent: one layout": {
			facts: managed, earlier: []change{nothing, mixed}, change: func(f *Facts) { f.Engines.Layouts = f.Engines.Layouts[:1] },
			conditions: with(ready, compatibility, ""),
		},
		"InjectedEngineCrashLooping: it is told once the layouts are equal": {
			facts: managed, earlier: []change{nothing, all(mixed, crash)}, change: func(f *Facts) { f.Engines.Layouts = nil }, events: crashes,
			conditions: with(ready, compatibility, "False/InjectedEngineCrashLooping"),
		},
	})
}
