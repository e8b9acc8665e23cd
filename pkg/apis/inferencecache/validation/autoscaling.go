/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

func validateAutoscaling(scaling *inferencecache.AutoscalingSpec, path *field.Path) field.ErrorList {
	if scaling == nil {
		return nil
	}
	errs := validateAtLeast(scaling.MinReplicas, 1, path.Child("minReplicas"))
	switch most, at := scaling.MaxReplicas, path.Child("maxReplicas"); {
	case most == 0:
		errs = append(errs, field.Required(at, "set it to at least 1"))
	case most < 0:
		errs = append(errs, field.Invalid(at, most, "must be at least 1"))
	case scaling.MinReplicas != nil && *scaling.MinReplicas > most:
		errs = append(errs, field.Invalid(at, most, fmt.Sprintf("must be at least minReplicas, which is %d", *scaling.MinReplicas)))
	}
	return append(errs, validateBetween(scaling.TargetCPUUtilizationPercent, 1, 100, path.Child("targetCPUUtilizationPercent"))...)
}
