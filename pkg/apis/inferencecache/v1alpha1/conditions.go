/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

// Condition types of a CacheBackend. Which of them are published depends on the
// shape of the backend: an External one has Ready and Progressing, to which
// EngineCompatibility is added only while engines corrupt each other's output; an
// EventsOnly one has exactly Ready, Degraded and Progressing; one of type
// SGLangHiCache has Ready, and EngineCompatibility while an engine crashes.
const (
	// ConditionReady is true when the backend serves. CacheTenant and CachePolicy
	// have it too: true for the one that the server goes by.
	ConditionReady = "Ready"
	// ConditionDegraded is true when the backend is stuck in a bad state.
	ConditionDegraded = "Degraded"
	// ConditionProgressing is true while the backend moves to the wanted state.
	ConditionProgressing = "Progressing"
	// ConditionFunctionalProbeOK is the outcome of the latest functional probe.
	ConditionFunctionalProbeOK = "FunctionalProbeOK"
	// ConditionEngineKernelsHealthy says whether LMCache's native kernels loaded
	// in the engine's image. Absent when no Pod runs the check.
	ConditionEngineKernelsHealthy = "EngineKernelsHealthy"
	// ConditionT2Degraded is advice on the second tier; it never gates Ready.
	ConditionT2Degraded = "T2Degraded"
	// ConditionEngineCompatibility is False when wired engines crash or cannot share
	// one store; it never gates Ready. Absent otherwise.
	ConditionEngineCompatibility = "EngineCompatibility"
)

// Reasons of ConditionReady.
const (
	ReasonBackendReady             = "BackendReady"
	ReasonKVEventsObserved         = "KVEventsObserved"
	ReasonHostOnlyActive           = "HostOnlyActive"
	ReasonEventsOnlyActive         = "EventsOnlyActive"
	ReasonRolloutInProgress        = "RolloutInProgress"
	ReasonScaledToZero             = "ScaledToZero"
	ReasonReplicasUnavailable      = "ReplicasUnavailable"
	ReasonAwaitingFirstKVEvent     = "AwaitingFirstKVEvent"
	ReasonNoKVEventsObserved       = "NoKVEventsObserved"
	ReasonEngineKernelDegraded     = "EngineKernelDegraded"
	ReasonExternalEndpointAccepted = "ExternalEndpointAccepted"
	ReasonExternalEndpointMissing  = "ExternalEndpointMissing"
	ReasonExternalEndpointInvalid  = "ExternalEndpointInvalid"
	ReasonHiCacheActive            = "HiCacheActive"
	ReasonAwaitingHiCacheEvents    = "AwaitingHiCacheEvents"
	ReasonOwnershipConflict        = "OwnershipConflict"
	ReasonCredentialsMissing       = "CredentialsMissing"
)

// Reasons of ConditionDegraded and ConditionProgressing beyond those that they
// share with ConditionReady.
const (
	ReasonNotDegraded = "NotDegraded"
	ReasonDegraded    = "Degraded"
	ReasonSynced      = "Synced"
)

// Reasons of ConditionFunctionalProbeOK. A failed stage also appears as the
// reason of ConditionReady.
const (
	ReasonProbeOK            = "ProbeOK"
	ReasonProbeBypassed      = "ProbeBypassed"
	ReasonProbeIngestFailed  = "ProbeIngestFailed"
	ReasonProbeRoutingFailed = "ProbeRoutingFailed"
	ReasonProbeT2Failed      = "ProbeT2Failed"
	ReasonProbeError         = "ProbeError"
)

// Reasons of ConditionEngineKernelsHealthy.
const (
	ReasonKernelsHealthy     = "KernelsHealthy"
	ReasonKernelLoadFailed   = "KernelLoadFailed"
	ReasonKernelCheckError   = "KernelCheckError"
	ReasonKernelCheckPending = "KernelCheckPending"
)

// Reasons of ConditionT2Degraded and ConditionEngineCompatibility.
const (
	ReasonT2ZeroHitRate              = "T2ZeroHitRate"
	ReasonT2Serving                  = "T2Serving"
	ReasonInjectedEngineCrashLooping = "InjectedEngineCrashLooping"
	ReasonMixedKVLayouts             = "MixedKVLayouts"
)

// ConditionQuotaExceeded is true when a CacheTenant's entries are over its
// quota.
const ConditionQuotaExceeded = "QuotaExceeded"

// Reasons of ConditionReady and ConditionQuotaExceeded of a CacheTenant.
// ReasonObserved and ReasonNotEffective are also those of a CachePolicy's
// ConditionReady.
const (
	ReasonObserved          = "Observed"
	ReasonDuplicateTenantID = "DuplicateTenantID"
	ReasonNoQuota           = "NoQuota"
	ReasonWithinBudget      = "WithinBudget"
	ReasonOverEntryBudget   = "OverEntryBudget"
	ReasonNotEffective      = "NotEffective"
)
