/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// maxProbeMessage bounds what a stage may say, in characters.
const maxProbeMessage = 512

// probeReason is the reason of a stage that failed, probeAdvice what to do then.
var (
	probeReason = map[StageName]string{
		StageIngest:  v1alpha1.ReasonProbeIngestFailed,
		StageRouting: v1alpha1.ReasonProbeRoutingFailed,
		StageT2:      v1alpha1.ReasonProbeT2Failed,
	}
	probeAdvice = map[StageName]string{
		StageIngest:  "Events do not reach the index; look at the API server's log",
		StageRouting: "Lookups do not find what is in the index; look at the API server's log",
		StageT2:      "The store does not keep what it is given; look at its Pods and their log",
	}
)

// probeGate is the third gate: a request went all the way. It never touches
// condition Degraded, which is about the store's Pods and its engines' events.
func (j *judgement) probeGate(s standing) standing {
	switch {
	case !j.probed():
		j.conditions.drop(v1alpha1.ConditionFunctionalProbeOK)
		return s
	case j.probeBypassed():
		j.conditions.set(v1alpha1.ConditionFunctionalProbeOK, metav1.ConditionTrue, v1alpha1.ReasonProbeBypassed,
			"Annotation "+v1alpha1.AnnotationSkipFunctionalProbe+" switches the functional probe off")
		return s
	case j.conditions.is(v1alpha1.ConditionFunctionalProbeOK, metav1.ConditionTrue, v1alpha1.ReasonProbeBypassed):
		j.conditions.drop(v1alpha1.ConditionFunctionalProbeOK)
	}
	if !s.ready {
		return s
	}
	j.judgeProbe()
	condition := j.conditions.present[v1alpha1.ConditionFunctionalProbeOK]
	switch {
	case condition.Status == metav1.ConditionFalse:
		return settled(condition.Reason, condition.Message, v1alpha1.ReasonSynced)
	case j.probePending():
		return moving(v1alpha1.ReasonRolloutInProgress, "The store is available; its first functional probe has not ended yet")
	default:
		return s
	}
}

// probePending says whether a backend would become ready on the word of no probe, or
// of one that knew another spec. One that is ready stays so.
func (j *judgement) probePending() bool {
	probe := j.facts.Probe
	if len(probe.Stages) > 0 || probe.Failure != "" || j.condition(v1alpha1.ConditionReady).Status == metav1.ConditionTrue {
		return false
	}
	last, found := j.conditions.present[v1alpha1.ConditionFunctionalProbeOK]
	return !found || last.Status == metav1.ConditionTrue && last.ObservedGeneration < j.backend.Generation
}

// judgeProbe makes a condition of the latest probe. Without one, or when it could
// not tell, a failure that was seen before stands until that stage is seen to work.
func (j *judgement) judgeProbe() {
	const probe = v1alpha1.ConditionFunctionalProbeOK
	if failed := j.stage(StageFailed); failed != nil {
		j.conditions.set(probe, metav1.ConditionFalse, probeReason[failed.Name],
			probeAdvice[failed.Name]+". "+stageMessage(failed))
		return
	}
	problem := ""
	if unknown := j.stage(StageUnknown); unknown != nil {
		problem = stageMessage(unknown)
	}
	if j.facts.Probe.Failure != "" {
		problem = cut(j.facts.Probe.Failure)
	}
	switch {
	case j.failureStands():
	case problem != "":
		j.conditions.set(probe, metav1.ConditionUnknown, v1alpha1.ReasonProbeError,
			problem+"; look at the manager's log and its rights if this lasts")
	case len(j.facts.Probe.Stages) > 0:
		j.conditions.set(probe, metav1.ConditionTrue, v1alpha1.ReasonProbeOK, "Every stage that applies worked")
	}
}

// failureStands says whether the stage that failed before has not been seen to work
// since.
func (j *judgement) failureStands() bool {
	before, found := j.conditions.present[v1alpha1.ConditionFunctionalProbeOK]
	if !found || before.Status != metav1.ConditionFalse {
		return false
	}
	return !slices.ContainsFunc(j.facts.Probe.Stages, func(s ProbeStage) bool {
		return probeReason[s.Name] == before.Reason && (s.Result == StageOK || s.Result == StageSkipped)
	})
}

// stage returns the first stage, in the order of a request, that had a result.
func (j *judgement) stage(result StageResult) *ProbeStage {
	for _, name := range []StageName{StageIngest, StageRouting, StageT2} {
		for i, stage := range j.facts.Probe.Stages {
			if stage.Name == name && stage.Result == result {
				return &j.facts.Probe.Stages[i]
			}
		}
	}
	return nil
}

// probed says whether the backend is probed at all.
func (j *judgement) probed() bool {
	return j.facts.Probe.Enabled && j.shape == ShapeManaged
}

func (j *judgement) probeBypassed() bool {
	return j.backend.Annotations[v1alpha1.AnnotationSkipFunctionalProbe] == "true"
}

func stageMessage(stage *ProbeStage) string {
	return "Stage " + string(stage.Name) + ": " + cut(stage.Message)
}

// cut shortens a message that came from elsewhere.
func cut(message string) string {
	if runes := []rune(message); len(runes) > maxProbeMessage {
		return string(runes[:maxProbeMessage-1]) + "…"
	}
	return message
}
