/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

// Annotations and labels of the group.
const (
	// AnnotationSkipInject on a Pod opts it out of injection.
	AnnotationSkipInject = "inferencecache.io/skip-inject"
	// AnnotationInjectedBy on a Pod names the CacheBackend that wired it, as
	// <namespace>/<name>.
	AnnotationInjectedBy = "inferencecache.io/injected-by"
	// AnnotationInjectedByUID on a Pod is the UID of that CacheBackend.
	AnnotationInjectedByUID = "inferencecache.io/injected-by-uid"
	// AnnotationInjectSkipped on a Pod is the reason why it was not wired.
	AnnotationInjectSkipped = "inferencecache.io/inject-skipped"
	// AnnotationInjectSkippedMessage on a Pod says what was in the way of its wiring
	// and what to do about it.
	AnnotationInjectSkippedMessage = "inferencecache.io/inject-skipped-message"
	// AnnotationRequireKVEvents set to "false" on a CacheBackend lets it become
	// ready without a KV event.
	AnnotationRequireKVEvents = "inferencecache.io/require-kv-events"
	// AnnotationSkipFunctionalProbe set to "true" on a CacheBackend switches its
	// functional probe off.
	AnnotationSkipFunctionalProbe = "inferencecache.io/skip-functional-probe"
	// AnnotationKernelCheck on a CacheBackend is the mode of the kernel check:
	// auto, report-only, strict or off.
	AnnotationKernelCheck = "inferencecache.io/lmcache-kernel-check"
	// AnnotationKVLoadFailurePolicy set to "omit" on a CacheBackend leaves
	// kv_load_failure_policy out of what vLLM is given: releases before 0.22 do not
	// know it and do not start with it.
	AnnotationKVLoadFailurePolicy = "inferencecache.io/kv-load-failure-policy"
	// AnnotationCacheServerRestartTrigger on an engine's Pod template restarts the
	// engine after its store was replaced.
	AnnotationCacheServerRestartTrigger = "inferencecache.io/cache-server-restart-trigger"
	// LabelBackendType on a rendered object is the type of its CacheBackend.
	LabelBackendType = "inferencecache.io/backend-type"
)

// InjectSkippedByAnnotation is the value of AnnotationInjectSkipped on a Pod that
// AnnotationSkipInject opted out.
const InjectSkippedByAnnotation = "skip-inject-annotation"

// KVLoadFailurePolicyOmit is the value of AnnotationKVLoadFailurePolicy that has an
// effect.
const KVLoadFailurePolicyOmit = "omit"

// Values of AnnotationKernelCheck. An empty value means KernelCheckAuto.
const (
	KernelCheckAuto       = "auto"
	KernelCheckReportOnly = "report-only"
	KernelCheckStrict     = "strict"
	KernelCheckOff        = "off"
)
