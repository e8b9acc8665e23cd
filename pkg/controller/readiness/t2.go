/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// judgeT2 publishes T2Degraded once the second tier has been asked for anything. What
// counts as served is up to who reads the engines' metrics: a hit that a lookup
// promised and no load brought is none. It is advice over the engines' whole lives: a
// tier that served once and has stopped is for the alerts to find, which look at
// minutes.
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
	if *part.T2HitRate == "0" {
		j.conditions.set(t2, metav1.ConditionTrue, v1alpha1.ReasonT2ZeroHitRate,
			"The second tier was asked for blocks and never served one; check the store's memory, its connection and the engines' "+
				"log for loads that fail, and that all engines hash alike")
		return
	}
	j.conditions.set(t2, metav1.ConditionFalse, v1alpha1.ReasonT2Serving, "The second tier serves blocks")
}
