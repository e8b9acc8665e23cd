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

// ours are the condition types that this package decides on, in the order in which
// they are listed. Conditions of other types are somebody else's and are kept.
var ours = []string{
	v1alpha1.ConditionReady,
	v1alpha1.ConditionDegraded,
	v1alpha1.ConditionProgressing,
	v1alpha1.ConditionFunctionalProbeOK,
	v1alpha1.ConditionEngineKernelsHealthy,
	v1alpha1.ConditionT2Degraded,
	v1alpha1.ConditionEngineCompatibility,
}

// publishes says whether a shape has a condition at all.
func (s Shape) publishes(conditionType string) bool {
	switch conditionType {
	case v1alpha1.ConditionReady:
		return s != ShapeUnsupported
	case v1alpha1.ConditionProgressing:
		return s.gatedByEvents() || s == ShapeExternal
	case v1alpha1.ConditionDegraded:
		return s.gatedByEvents()
	case v1alpha1.ConditionFunctionalProbeOK, v1alpha1.ConditionT2Degraded:
		return s == ShapeManaged
	case v1alpha1.ConditionEngineKernelsHealthy:
		return s.offloads()
	default:
		return s.offloads() || s == ShapeExternal || s == ShapeHiCache
	}
}

// conditionSet is the list of conditions under way from one status to the next. A
// condition that nobody speaks of stays as it was.
type conditionSet struct {
	generation int64
	now        metav1.Time
	present    map[string]metav1.Condition
	foreign    []metav1.Condition
}

// newConditionSet takes over what was published, but for what the shape does not
// have.
func newConditionSet(before []metav1.Condition, shape Shape, generation int64, now metav1.Time) conditionSet {
	set := conditionSet{generation: generation, now: now, present: map[string]metav1.Condition{}}
	for _, condition := range before {
		switch {
		case !slices.Contains(ours, condition.Type):
			set.foreign = append(set.foreign, condition)
		case shape.publishes(condition.Type):
			set.present[condition.Type] = condition
		}
	}
	return set
}

// set publishes a condition. Its transition time moves with its status only.
func (s *conditionSet) set(conditionType string, status metav1.ConditionStatus, reason, message string) {
	transition := s.now
	if before, found := s.present[conditionType]; found && before.Status == status {
		transition = before.LastTransitionTime
	}
	s.present[conditionType] = metav1.Condition{
		Type:               conditionType,
		Status:             status,
		ObservedGeneration: s.generation,
		LastTransitionTime: transition,
		Reason:             reason,
		Message:            message,
	}
}

// drop takes a condition back.
func (s *conditionSet) drop(conditionType string) {
	delete(s.present, conditionType)
}

// is says whether a condition is present with a status and a reason.
func (s *conditionSet) is(conditionType string, status metav1.ConditionStatus, reason string) bool {
	condition, found := s.present[conditionType]
	return found && condition.Status == status && condition.Reason == reason
}

// list returns the conditions, ours first and in their order.
func (s *conditionSet) list() []metav1.Condition {
	var list []metav1.Condition
	for _, conditionType := range ours {
		if condition, found := s.present[conditionType]; found {
			list = append(list, condition)
		}
	}
	return append(list, s.foreign...)
}

// statusOf turns a truth into a condition's status.
func statusOf(b bool) metav1.ConditionStatus {
	if b {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}
