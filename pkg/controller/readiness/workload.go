/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	"fmt"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// workload is the first gate: the store runs what was asked for.
func (j *judgement) workload() standing {
	w := j.facts.Workload
	switch {
	case j.facts.Conflict != nil:
		return stuck(v1alpha1.ReasonOwnershipConflict, j.facts.Conflict.message())
	case j.facts.MissingCredentials != "":
		return stuck(v1alpha1.ReasonCredentialsMissing, credentialsMessage(j.facts.MissingCredentials))
	case j.facts.ApplyProblem != "":
		return moving(v1alpha1.ReasonRolloutInProgress, fmt.Sprintf(
			"The API refuses what the spec asks for; correct the spec or what refuses it: %s", cut(j.facts.ApplyProblem)))
	case w == nil:
		return moving(v1alpha1.ReasonRolloutInProgress, "The workload of the store does not exist yet")
	case j.status.Endpoint == "":
		return moving(v1alpha1.ReasonRolloutInProgress, "The Service of the store does not exist yet")
	case w.Desired == 0:
		return settled(v1alpha1.ReasonScaledToZero, "The store is scaled to zero; raise spec.replicas to use it", v1alpha1.ReasonScaledToZero)
	case w.rolledOut() && w.Available >= w.Desired:
		return serving(v1alpha1.ReasonBackendReady, w.count())
	case w.hangs() || w.rolledOut() && j.hadStore() && w.Desired <= j.before.Replicas:
		return stuck(v1alpha1.ReasonReplicasUnavailable, fmt.Sprintf(
			"%s%s; look at kubectl describe %s/%s and its Pods", w.count(), w.trouble(), w.resource(), w.Name))
	default:
		return moving(v1alpha1.ReasonRolloutInProgress, w.count()+w.trouble())
	}
}

// hadStore says whether the store was up when it was last judged, or has been
// given up since. Pods that are missing then are lost, not awaited.
func (j *judgement) hadStore() bool {
	if j.flipped {
		return false
	}
	switch j.condition(v1alpha1.ConditionReady).Reason {
	case v1alpha1.ReasonBackendReady, v1alpha1.ReasonReplicasUnavailable,
		v1alpha1.ReasonAwaitingFirstKVEvent, v1alpha1.ReasonKVEventsObserved, v1alpha1.ReasonNoKVEventsObserved,
		v1alpha1.ReasonProbeIngestFailed, v1alpha1.ReasonProbeRoutingFailed, v1alpha1.ReasonProbeT2Failed,
		v1alpha1.ReasonEngineKernelDegraded:
		return true
	default:
		return false
	}
}

// rolledOut says whether all Pods are of the template that was last asked for.
func (w *Workload) rolledOut() bool {
	return w.ObservedGeneration >= w.Generation && w.Updated >= w.Desired
}

// hangs says whether a rollout is not expected to end by itself. A StatefulSet has no
// deadline for one, and waits forever for a Pod that does not start.
func (w *Workload) hangs() bool {
	return w.Overdue || w.Kind == v1alpha1.DeploymentKindStatefulSet && w.Trouble != ""
}

func (w *Workload) count() string {
	return fmt.Sprintf("%d/%d replicas available", min(w.Available, w.Desired), w.Desired)
}

func (w *Workload) trouble() string {
	if w.Trouble == "" {
		return ""
	}
	return ": " + w.Trouble
}

// resource is the workload's kind as kubectl takes it.
func (w *Workload) resource() string {
	if w.Kind == v1alpha1.DeploymentKindStatefulSet {
		return "statefulset"
	}
	return "deployment"
}

func (c *Conflict) message() string {
	owner := "nobody"
	if c.Owner != "" {
		owner = c.Owner
	}
	return fmt.Sprintf("%s %s exists and is controlled by %s, so it is left alone; delete or rename it, or name the backend otherwise",
		c.Kind, c.Name, owner)
}

func credentialsMessage(missing string) string {
	return missing + "; create it, or correct the reference to it"
}
