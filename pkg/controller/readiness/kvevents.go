/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	"fmt"
	"time"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// eventGate is the second gate: an event of an engine has been seen. It asks once;
// a backend whose engines have gone since has passed it all the same.
func (j *judgement) eventGate(s standing) standing {
	if !s.ready {
		return s
	}
	if j.status.FirstAvailableAt == nil {
		j.status.FirstAvailableAt = j.now.DeepCopy()
	}
	if j.backend.Annotations[v1alpha1.AnnotationRequireKVEvents] == "false" {
		return s
	}
	if j.latchFirstEvent() {
		j.tell(v1alpha1.ReasonKVEventsObserved, "The first KV event of an engine was observed")
	}
	if j.status.FirstKVEventObservedAt != nil {
		return serving(v1alpha1.ReasonKVEventsObserved, "KV events of the engines were observed")
	}

	was := j.condition(v1alpha1.ConditionReady).Reason
	left := j.status.FirstAvailableAt.Add(firstEventTimeout(j.backend)).Sub(j.now.Time)
	gaveUp := was == v1alpha1.ReasonNoKVEventsObserved && !j.flipped
	// An index that does not know every engine may have lost the event, not missed it.
	if gaveUp || left <= 0 && j.indexKnowsAll() {
		message := fmt.Sprintf("No KV event within %s of becoming available; %s", firstEventTimeout(j.backend), j.silence())
		if was != v1alpha1.ReasonNoKVEventsObserved {
			j.warn(v1alpha1.ReasonNoKVEventsObserved, message)
		}
		return stuck(v1alpha1.ReasonNoKVEventsObserved, message)
	}
	j.deadline = max(left, 0)
	message := "Waiting for the first KV event; " + j.silence()
	if was != v1alpha1.ReasonAwaitingFirstKVEvent {
		j.tell(v1alpha1.ReasonAwaitingFirstKVEvent, message)
	}
	return moving(v1alpha1.ReasonAwaitingFirstKVEvent, message)
}

// latchFirstEvent remembers the first event for good, and says whether it is new.
func (j *judgement) latchFirstEvent() bool {
	part := j.status.IndexParticipation
	if j.status.FirstKVEventObservedAt != nil || part == nil || part.LastEventAt == nil {
		return false
	}
	j.status.FirstKVEventObservedAt = j.now.DeepCopy()
	return true
}

// silence says what most likely keeps events away and what to do about it.
func (j *judgement) silence() string {
	engines := j.facts.Engines
	switch {
	case !selects(j.backend):
		return "spec.engineSelector claims no Pod; set its matchLabels to the labels of the engine Pods"
	case modelID(j.backend) == "":
		return "spec.observation.modelID is empty, so engine Pods get no event subscriber; set it and restart the engines"
	case engines != nil && engines.Matched == 0:
		return "no Pod matches spec.engineSelector; correct it, or start an engine"
	case engines != nil && engines.Wired == 0 && len(engines.LeftUnwired) > 0:
		return "no matched Pod could be wired; correct what stands in the way and restart the engines: " + notes(engines.LeftUnwired)
	case engines != nil && engines.Wired == 0:
		return "no matched Pod is wired, since all are older than the backend; restart the engines"
	case !j.indexKnowsAll():
		return "the live index is unreachable or still being rebuilt, so an event may have been missed; look at the API server's replicas"
	default:
		return "check the engines' --kv-events-config and the log of container kvevent-subscriber"
	}
}

// firstEventTimeout is how long the first event may take.
func firstEventTimeout(backend *v1alpha1.CacheBackend) time.Duration {
	if o := backend.Spec.Observation; o != nil && o.FirstEventTimeout != nil {
		return o.FirstEventTimeout.Duration
	}
	return v1alpha1.DefaultFirstEventTimeout
}

func modelID(backend *v1alpha1.CacheBackend) string {
	if backend.Spec.Observation == nil {
		return ""
	}
	return backend.Spec.Observation.ModelID
}
