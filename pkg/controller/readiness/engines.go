/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
)

// countEngines fills in how many Pods the selector matches, and says what is wrong
// when it matches none although engines are expected.
func (j *judgement) countEngines() {
	engines := j.facts.Engines
	if !selects(j.backend) {
		j.status.MatchedEnginePods, j.status.EngineSelectorMessage = nil, ""
		return
	}
	if engines == nil {
		return
	}
	j.status.MatchedEnginePods = ptr.To(engines.Matched)
	j.status.EngineSelectorMessage = ""
	// Workloads that are all scaled to zero want no engine.
	if engines.Matched > 0 || engines.Workloads > 0 && engines.Desired == 0 {
		return
	}
	j.status.EngineSelectorMessage = fmt.Sprintf(
		"spec.engineSelector.matchLabels={%s} matches no Pod in namespace %s; correct it, or give the engines' Pod template these labels",
		labels.Set(j.backend.Spec.EngineSelector.MatchLabels), j.backend.Namespace)
	if j.before.EngineSelectorMessage != j.status.EngineSelectorMessage || ptr.Deref(j.before.MatchedEnginePods, 1) > 0 {
		j.tell(EventEngineSelectorUnmatched, j.status.EngineSelectorMessage)
	}
}
