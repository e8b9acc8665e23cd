/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// standing is how far a backend has come through the gates. It becomes conditions
// Ready, Degraded and Progressing.
type standing struct {
	ready           bool
	reason, message string
	// degraded says that the backend does not expect to mend by itself.
	degraded bool
	// progressing says that it does, and progress is the reason of condition
	// Progressing either way.
	progressing bool
	progress    string
}

// serving is the standing of a backend that does its work.
func serving(reason, message string) standing {
	return standing{ready: true, reason: reason, message: message, progress: v1alpha1.ReasonSynced}
}

// moving is that of a backend on its way.
func moving(reason, message string) standing {
	return standing{reason: reason, message: message, progressing: true, progress: reason}
}

// stuck is that of a backend that waits for somebody to mend it.
func stuck(reason, message string) standing {
	return standing{reason: reason, message: message, degraded: true, progress: v1alpha1.ReasonDegraded}
}

// settled is that of a backend that is as it was asked to be and does not serve.
func settled(reason, message, progress string) standing {
	return standing{reason: reason, message: message, progress: progress}
}

// publish makes conditions of where the backend stands and tells of what changed.
func (j *judgement) publish(s standing) {
	wasDegraded := j.condition(v1alpha1.ConditionDegraded)
	j.conditions.set(v1alpha1.ConditionReady, statusOf(s.ready), s.reason, s.message)
	if j.shape.publishes(v1alpha1.ConditionProgressing) {
		j.conditions.set(v1alpha1.ConditionProgressing, statusOf(s.progressing), s.progress, s.message)
	}
	if !j.shape.publishes(v1alpha1.ConditionDegraded) {
		return
	}
	reason, message := v1alpha1.ReasonNotDegraded, "Nothing is known to be wrong for good"
	if s.degraded {
		reason, message = s.reason, s.message
	}
	j.conditions.set(v1alpha1.ConditionDegraded, statusOf(s.degraded), reason, message)

	if s.degraded && s.reason == v1alpha1.ReasonReplicasUnavailable && wasDegraded.Reason != s.reason {
		j.warn(EventBackendDegraded, s.message)
	}
	// An end of NoKVEventsObserved is told as KVEventsObserved.
	if s.ready && wasDegraded.Status == metav1.ConditionTrue && wasDegraded.Reason != v1alpha1.ReasonNoKVEventsObserved {
		j.tell(EventBackendRecovered, "The backend is ready again")
	}
}

// condition returns a condition as it was last written, the zero value when it was
// not.
func (j *judgement) condition(conditionType string) metav1.Condition {
	for _, condition := range j.before.Conditions {
		if condition.Type == conditionType {
			return condition
		}
	}
	return metav1.Condition{}
}

// tell and warn emit an Event.
func (j *judgement) tell(reason, message string) {
	j.events = append(j.events, Event{Type: corev1.EventTypeNormal, Reason: reason, Message: noteOf(message)})
}

func (j *judgement) warn(reason, message string) {
	j.events = append(j.events, Event{Type: corev1.EventTypeWarning, Reason: reason, Message: noteOf(message)})
}
