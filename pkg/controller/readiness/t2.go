/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// judgeT2 publishes T2Degraded once the second tier has been asked for anything. It
// is advice over the engines' whole lives: a tier that served once and has stopped
// is for the alerts to find, which look at minutes.
func (j *judgement) judgeT2() {
	const t2 = v1alpha1.ConditionT2Degraded
	if !j.shape.publishes(t2) || j.facts.Index == nil {
		return
	}
	part := j.status.IndexParticipation
	if part == nil || part.T2HitRate == nil {
		j.conditions.drop(t2)
		return
	}
	loads := j.facts.Index.T2Loads
	failing := loads != nil && (loads.FailedRequests > 0 || loads.Promised > 0 && loads.Loaded == 0)
	switch {
	case *part.T2HitRate == "0" && failing:
		j.conditions.set(t2, metav1.ConditionTrue, v1alpha1.ReasonT2ZeroHitRate,
			"The second tier promises blocks and none can be loaded; check that the store keeps what it is given, and its memory")
	case *part.T2HitRate == "0":
		j.conditions.set(t2, metav1.ConditionTrue, v1alpha1.ReasonT2ZeroHitRate,
			"The second tier was asked and never had a block; check the store's memory, its connection, and that all engines hash alike")
	case failing:
		j.conditions.set(t2, metav1.ConditionFalse, v1alpha1.ReasonT2Serving,
			"The second tier serves, though requests have failed for blocks that could not be loaded; look at the engines' logs")
	default:
		j.conditions.set(t2, metav1.ConditionFalse, v1alpha1.ReasonT2Serving, "The second tier serves blocks")
	}
}
