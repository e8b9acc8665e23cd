/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// kernelGate is the last gate: no engine that insists on its native kernels is
// without them. An engine that does not insist shows in the condition alone.
func (j *judgement) kernelGate(s standing) standing {
	if !j.shape.publishes(v1alpha1.ConditionEngineKernelsHealthy) {
		return s
	}
	refused, message := j.judgeKernels()
	if !s.ready || !refused {
		return s
	}
	return settled(v1alpha1.ReasonEngineKernelDegraded, message, v1alpha1.ReasonSynced)
}

// judgeKernels publishes EngineKernelsHealthy, and says whether an engine in strict
// mode failed its check, with a message.
func (j *judgement) judgeKernels() (bool, string) {
	const kernels = v1alpha1.ConditionEngineKernelsHealthy
	if j.facts.Engines == nil {
		before := j.condition(v1alpha1.ConditionReady)
		return before.Reason == v1alpha1.ReasonEngineKernelDegraded, before.Message
	}
	byState := map[KernelState][]PodNote{}
	var refused []PodNote
	for _, check := range j.facts.Engines.Kernels {
		note := PodNote{Pod: check.Pod, Note: check.Message}
		byState[check.State] = append(byState[check.State], note)
		if check.Strict && check.State == KernelsFailed {
			refused = append(refused, note)
		}
	}
	switch {
	case len(byState[KernelsFailed]) > 0:
		j.conditions.set(kernels, metav1.ConditionFalse, v1alpha1.ReasonKernelLoadFailed, kernelAdvice(byState[KernelsFailed]))
	case len(byState[KernelsUnclear]) > 0:
		j.conditions.set(kernels, metav1.ConditionUnknown, v1alpha1.ReasonKernelCheckError,
			"The kernel check ended without a result; look at init container lmcache-kernel-check: "+notes(byState[KernelsUnclear]))
	case len(byState[KernelsPending]) > 0:
		j.conditions.set(kernels, metav1.ConditionUnknown, v1alpha1.ReasonKernelCheckPending,
			"The kernel check has not ended: "+notes(byState[KernelsPending]))
	case len(byState[KernelsLoaded]) > 0:
		j.conditions.set(kernels, metav1.ConditionTrue, v1alpha1.ReasonKernelsHealthy, "LMCache's native kernels loaded in every engine that checks them")
	default:
		j.conditions.drop(kernels)
	}
	return len(refused) > 0, kernelAdvice(refused)
}

func kernelAdvice(failed []PodNote) string {
	return "LMCache's native kernels did not load; use an engine image whose LMCache was built for its CUDA: " + notes(failed)
}
