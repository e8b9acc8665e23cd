/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package inferencecache

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CacheBackendStatus is what the controller last saw of a backend. Exact and
// current figures of the index are read from the observation subresource; what
// stands here is coarse on purpose.
type CacheBackendStatus struct {
	// Endpoint is where clients reach the remote store.
	Endpoint string
	// MatchedEnginePods is the number of Pods that engineSelector matched at the
	// last look.
	MatchedEnginePods *int32
	// EngineSelectorMessage says what is wrong when engineSelector matches no Pod
	// although some are expected.
	EngineSelectorMessage string
	// FailOpen repeats the effective spec.integration.failOpen.
	FailOpen *bool
	// IndexParticipation is this backend's share of the live index.
	IndexParticipation *IndexParticipation
	// FirstKVEventObservedAt is when the first KV event of this backend was seen.
	FirstKVEventObservedAt *metav1.Time
	// FirstAvailableAt is when the backend was first able to serve in its present
	// mode; the clock of firstEventTimeout starts here.
	FirstAvailableAt *metav1.Time
	// ObservedServerInstance identifies the Ready Pods of the managed store that
	// the controller last took as its baseline, as <uid>:<restarts> in the order of
	// Pod names.
	ObservedServerInstance string
	// Replicas is the number of Pods of the managed store, as the scale subresource
	// reports it.
	Replicas int32
	// Selector selects the Pods of the managed store, in the string form that the
	// scale subresource and a HorizontalPodAutoscaler use.
	Selector string
	// ObservedGeneration is the metadata.generation that the controller last
	// reconciled.
	ObservedGeneration int64
	// Conditions are the latest observations of the backend's state, such as Ready,
	// Degraded and Progressing.
	Conditions []metav1.Condition
}

// IndexParticipation is a backend's share of the live index.
type IndexParticipation struct {
	// PrefixCount is the number of prefixes that the backend's engines hold.
	PrefixCount int64
	// LastEventAt is when the latest KV event of the backend's engines arrived.
	LastEventAt *metav1.Time
	// HitRate is the share of queried tokens that the engines found in their own
	// cache, as a decimal from 0 to 1.
	HitRate *string
	// T2HitRate is the share of queried tokens that the second tier served, as a
	// decimal from 0 to 1.
	T2HitRate *string
}
