/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package inferencecache

// AnnotationKernelCheck on a CacheBackend is the mode of the kernel check. It is
// the one annotation of the group whose value is validated: a misspelt one would
// quietly be weaker than what was meant.
const AnnotationKernelCheck = "inferencecache.io/lmcache-kernel-check"

// KernelCheck is a value of AnnotationKernelCheck. An empty one means
// KernelCheckAuto.
type KernelCheck string

const (
	// KernelCheckAuto checks engines that ask for an accelerator and reports.
	KernelCheckAuto KernelCheck = "auto"
	// KernelCheckReportOnly checks every engine and reports.
	KernelCheckReportOnly KernelCheck = "report-only"
	// KernelCheckStrict checks every engine and keeps a failing one from serving.
	KernelCheckStrict KernelCheck = "strict"
	// KernelCheckOff checks nothing.
	KernelCheckOff KernelCheck = "off"
)
