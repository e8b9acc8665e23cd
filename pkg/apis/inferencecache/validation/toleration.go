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

var (
	// tolerationOperators leaves out the numeric comparisons, which a cluster
	// accepts only behind a feature gate.
	tolerationOperators = []corev1.TolerationOperator{corev1.TolerationOpEqual, corev1.TolerationOpExists}

	taintEffects = []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}
)

func validateTolerations(tolerations []corev1.Toleration, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, toleration := range tolerations {
		errs = append(errs, validateToleration(toleration, path.Index(i))...)
	}
	return errs
}

func validateToleration(toleration corev1.Toleration, path *field.Path) field.ErrorList {
	errs := validateOptionalEnum(toleration.Operator, tolerationOperators, path.Child("operator"))
	errs = append(errs, validateOptionalEnum(toleration.Effect, taintEffects, path.Child("effect"))...)
	if toleration.Key != "" {
		errs = append(errs, metav1validation.ValidateLabelName(toleration.Key, path.Child("key"))...)
	} else if toleration.Operator != corev1.TolerationOpExists {
		errs = append(errs, field.Required(path.Child("key"), "name the taint, or set operator to Exists to tolerate all of them"))
	}
	if toleration.Operator != corev1.TolerationOpExists {
		errs = append(errs, invalid(toleration.Value, utilvalidation.IsValidLabelValue(toleration.Value), path.Child("value"))...)
	} else if toleration.Value != "" {
		errs = append(errs, field.Invalid(path.Child("value"), toleration.Value, "must be empty with operator Exists; remove it, or set operator to Equal"))
	}
	if toleration.TolerationSeconds != nil && toleration.Effect != corev1.TaintEffectNoExecute {
		errs = append(errs, field.Invalid(path.Child("tolerationSeconds"), *toleration.TolerationSeconds, "only allowed with effect NoExecute; remove it or change effect"))
	}
	return errs
}
