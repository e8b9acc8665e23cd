/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// nodeNameField is the one field of a node that a term can match.
const nodeNameField = "metadata.name"

func validateAffinity(affinity *corev1.Affinity, path *field.Path) field.ErrorList {
	if affinity == nil {
		return nil
	}
	errs := validateNodeAffinity(affinity.NodeAffinity, path.Child("nodeAffinity"))
	if pods := affinity.PodAffinity; pods != nil {
		errs = append(errs, validatePodAffinity(pods.RequiredDuringSchedulingIgnoredDuringExecution,
			pods.PreferredDuringSchedulingIgnoredDuringExecution, path.Child("podAffinity"))...)
	}
	if pods := affinity.PodAntiAffinity; pods != nil {
		errs = append(errs, validatePodAffinity(pods.RequiredDuringSchedulingIgnoredDuringExecution,
			pods.PreferredDuringSchedulingIgnoredDuringExecution, path.Child("podAntiAffinity"))...)
	}
	return errs
}

func validateNodeAffinity(affinity *corev1.NodeAffinity, path *field.Path) field.ErrorList {
	if affinity == nil {
		return nil
	}
	var errs field.ErrorList
	if required := affinity.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		at := path.Child("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
		if len(required.NodeSelectorTerms) == 0 {
			errs = append(errs, field.Required(at, "add a term, or remove the block"))
		}
		for i, term := range required.NodeSelectorTerms {
			errs = append(errs, validateNodeTerm(term, at.Index(i))...)
		}
	}
	for i, preferred := range affinity.PreferredDuringSchedulingIgnoredDuringExecution {
		at := path.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i)
		errs = append(errs, validateWeight(preferred.Weight, at.Child("weight"))...)
		errs = append(errs, validateNodeTerm(preferred.Preference, at.Child("preference"))...)
	}
	return errs
}

func validateWeight(weight int32, path *field.Path) field.ErrorList {
	return validateBetween(&weight, 1, 100, path)
}

func validateNodeTerm(term corev1.NodeSelectorTerm, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, requirement := range term.MatchExpressions {
		errs = append(errs, validateNodeExpression(requirement, path.Child("matchExpressions").Index(i))...)
	}
	for i, requirement := range term.MatchFields {
		errs = append(errs, validateNodeField(requirement, path.Child("matchFields").Index(i))...)
	}
	return errs
}

// validateNodeExpression holds a requirement on labels to the number of values
// that its operator takes.
func validateNodeExpression(requirement corev1.NodeSelectorRequirement, path *field.Path) field.ErrorList {
	errs := metav1validation.ValidateLabelName(requirement.Key, path.Child("key"))
	values, count := path.Child("values"), len(requirement.Values)
	switch requirement.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if count == 0 {
			errs = append(errs, field.Required(values, "operators In and NotIn need at least one value"))
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if count > 0 {
			errs = append(errs, field.Forbidden(values, "operators Exists and DoesNotExist take no values; remove them"))
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		if count != 1 {
			errs = append(errs, field.Required(values, "operators Gt and Lt need exactly one value"))
		}
	default:
		errs = append(errs, field.NotSupported(path.Child("operator"), requirement.Operator, []corev1.NodeSelectorOperator{
			corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists,
			corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt,
		}))
	}
	for i, value := range requirement.Values {
		errs = append(errs, invalid(value, utilvalidation.IsValidLabelValue(value), values.Index(i))...)
	}
	return errs
}

// validateNodeField holds a requirement on fields to the only one that there is,
// the name of the node.
func validateNodeField(requirement corev1.NodeSelectorRequirement, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if requirement.Key != nodeNameField {
		errs = append(errs, field.NotSupported(path.Child("key"), requirement.Key, []string{nodeNameField}))
	}
	switch requirement.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(requirement.Values) != 1 {
			errs = append(errs, field.Required(path.Child("values"), "needs exactly one name"))
		}
	default:
		errs = append(errs, field.NotSupported(path.Child("operator"), requirement.Operator,
			[]corev1.NodeSelectorOperator{corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn}))
	}
	for i, value := range requirement.Values {
		errs = append(errs, validateObjectName(value, "a node", path.Child("values").Index(i))...)
	}
	return errs
}
