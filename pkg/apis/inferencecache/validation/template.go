/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

func validateTemplate(template *inferencecache.PodTemplateOverrides, path *field.Path) field.ErrorList {
	if template == nil {
		return nil
	}
	errs := validateAtLeast(template.TerminationGracePeriodSeconds, 0, path.Child("terminationGracePeriodSeconds"))
	errs = append(errs, validateDistinct(template.TopologySpreadConstraints, func(constraint corev1.TopologySpreadConstraint) string {
		return fmt.Sprintf("{%s, %s}", constraint.TopologyKey, constraint.WhenUnsatisfiable)
	}, path.Child("topologySpreadConstraints"))...)
	return append(errs, validateDistinct(template.ImagePullSecrets, func(secret corev1.LocalObjectReference) string {
		return secret.Name
	}, path.Child("imagePullSecrets"), "name")...)
}
