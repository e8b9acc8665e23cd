/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
)

var (
	spreadActions = []corev1.UnsatisfiableConstraintAction{corev1.DoNotSchedule, corev1.ScheduleAnyway}

	nodeInclusionPolicies = []corev1.NodeInclusionPolicy{corev1.NodeInclusionPolicyIgnore, corev1.NodeInclusionPolicyHonor}
)

func validateTopologySpread(constraints []corev1.TopologySpreadConstraint, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, constraint := range constraints {
		errs = append(errs, validateSpreadConstraint(constraint, path.Index(i))...)
	}
	return append(errs, validateDistinct(constraints, func(constraint corev1.TopologySpreadConstraint) string {
		return fmt.Sprintf("{%s, %s}", constraint.TopologyKey, constraint.WhenUnsatisfiable)
	}, path)...)
}

func validateSpreadConstraint(constraint corev1.TopologySpreadConstraint, path *field.Path) field.ErrorList {
	errs := validateAtLeast(&constraint.MaxSkew, 1, path.Child("maxSkew"))
	errs = append(errs, validateTopologyKey(constraint.TopologyKey, path.Child("topologyKey"))...)
	errs = append(errs, validateEnum(constraint.WhenUnsatisfiable, spreadActions, path.Child("whenUnsatisfiable"))...)
	errs = append(errs, validateAtLeast(constraint.MinDomains, 1, path.Child("minDomains"))...)
	if constraint.MinDomains != nil && constraint.WhenUnsatisfiable != corev1.DoNotSchedule {
		errs = append(errs, field.Invalid(path.Child("minDomains"), *constraint.MinDomains,
			"only allowed with whenUnsatisfiable DoNotSchedule; remove it or change whenUnsatisfiable"))
	}
	errs = append(errs, validatePointerEnum(constraint.NodeAffinityPolicy, nodeInclusionPolicies, path.Child("nodeAffinityPolicy"))...)
	errs = append(errs, validatePointerEnum(constraint.NodeTaintsPolicy, nodeInclusionPolicies, path.Child("nodeTaintsPolicy"))...)
	errs = append(errs, validateSelector(constraint.LabelSelector, path.Child("labelSelector"))...)
	return append(errs, validateMatchLabelKeys(constraint.MatchLabelKeys, constraint.LabelSelector, path.Child("matchLabelKeys"))...)
}

// validatePointerEnum refuses a value outside supported where absence is a nil
// pointer, so that an empty value is none of them.
func validatePointerEnum[T ~string](value *T, supported []T, path *field.Path) field.ErrorList {
	if value == nil {
		return nil
	}
	return validateEnum(ptr.Deref(value, ""), supported, path)
}
