/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// judgeCompatibility publishes EngineCompatibility while wired engines crash or may
// not share a store. It is advice: what it says was seen, why is for people to find.
func (j *judgement) judgeCompatibility() {
	const compatibility = v1alpha1.ConditionEngineCompatibility
	engines := j.facts.Engines
	if !j.shape.publishes(compatibility) || engines == nil {
		return
	}
	crashed := j.condition(compatibility).Reason == v1alpha1.ReasonInjectedEngineCrashLooping
	layouts := byLayout(engines.Layouts)
	switch {
	// Wrong output comes before no output.
	case j.backend.Spec.RemoteStorage != nil && len(layouts) > 1:
		j.conditions.set(compatibility, metav1.ConditionFalse, v1alpha1.ReasonMixedKVLayouts,
			"Engines that share the store differ in KV layout and corrupt each other's output without any error; "+
				"give all of them the same flags, or each kind a CacheBackend of its own: "+strings.Join(layouts, "; "))
	// Who runs an External store follows its engines without us.
	case j.shape != ShapeExternal && len(engines.CrashLoops) > 0:
		message := j.crashAdvice() + ": " + notes(engines.CrashLoops)
		j.conditions.set(compatibility, metav1.ConditionFalse, v1alpha1.ReasonInjectedEngineCrashLooping, message)
		if !crashed {
			j.warn(v1alpha1.ReasonInjectedEngineCrashLooping, message)
		}
	default:
		j.conditions.drop(compatibility)
	}
}

// crashAdvice names the likely reasons for an engine to crash after it was wired.
func (j *judgement) crashAdvice() string {
	switch {
	case j.shape == ShapeHiCache:
		return "A wired engine crashes; read its log, and check that its memory holds spec.hiCache and that its version knows the flags"
	case j.backend.Spec.Runtime == v1alpha1.RuntimeVLLM:
		return "A wired engine crashes; read its log. A model with hybrid attention takes no connector: set spec.integration.mode to EventsOnly. " +
			"A vLLM below 0.22 does not know the load failure policy: annotate the backend inferencecache.io/kv-load-failure-policy=omit"
	default:
		return "A wired engine crashes; read its log and that of its LMCache worker. " +
			"A model that takes no connector needs spec.integration.mode EventsOnly"
	}
}

// byLayout describes the layouts, the first few of many, with the Pods that have it, the most frequent
// first.
func byLayout(layouts []PodNote) []string {
	pods := map[string][]PodNote{}
	for _, layout := range layouts {
		pods[layout.Note] = append(pods[layout.Note], PodNote{Pod: layout.Pod})
	}
	type group struct {
		layout string
		pods   []PodNote
	}
	var groups []group
	for layout, of := range pods {
		groups = append(groups, group{layout: layout, pods: of})
	}
	slices.SortFunc(groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(len(b.pods), len(a.pods)), cmp.Compare(a.layout, b.layout))
	})
	var described []string
	for _, g := range groups[:min(len(groups), maxNotes)] {
		described = append(described, fmt.Sprintf("%s in %s", cut(g.layout), notes(g.pods)))
	}
	if more := len(groups) - maxNotes; more > 0 {
		described = append(described, fmt.Sprintf("and %d more", more))
	}
	return described
}
