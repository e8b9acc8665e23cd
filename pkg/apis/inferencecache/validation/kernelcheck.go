/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

var kernelChecks = []inferencecache.KernelCheck{
	inferencecache.KernelCheckAuto, inferencecache.KernelCheckReportOnly,
	inferencecache.KernelCheckStrict, inferencecache.KernelCheckOff,
}

// validateKernelCheck refuses a mode of the kernel check that does not exist: a
// slip in "strict" must not make a check weaker.
func validateKernelCheck(annotations map[string]string, path *field.Path) field.ErrorList {
	mode := inferencecache.KernelCheck(annotations[inferencecache.AnnotationKernelCheck])
	return validateOptionalEnum(mode, kernelChecks, path.Key(inferencecache.AnnotationKernelCheck))
}
