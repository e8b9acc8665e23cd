/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CacheBackendStatus is what the controller last saw of a backend. Exact and
// current figures of the index are read from the observation subresource; what
// stands here is coarse on purpose.
type CacheBackendStatus struct {
	// endpoint is where clients reach the remote store. Empty when there is none:
	// host-only, EventsOnly and SGLangHiCache backends.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`

	// matchedEnginePods is the number of Pods that engineSelector matched at the
	// last look. Absent when it was not counted or when the selector claims
	// nothing; zero means that it was counted and nothing matched.
	// +optional
	MatchedEnginePods *int32 `json:"matchedEnginePods,omitempty"`

	// engineSelectorMessage says what is wrong when engineSelector matches no Pod
	// although some are expected. Empty otherwise.
	// +optional
	EngineSelectorMessage string `json:"engineSelectorMessage,omitempty"`

	// failOpen repeats the effective spec.integration.failOpen.
	// +optional
	FailOpen *bool `json:"failOpen,omitempty"`

	// indexParticipation is this backend's share of the live index. Absent until
	// the index was first read.
	// +optional
	IndexParticipation *IndexParticipation `json:"indexParticipation,omitempty"`

	// firstKVEventObservedAt is when the first KV event of this backend was seen.
	// Once set it stays.
	// +optional
	FirstKVEventObservedAt *metav1.Time `json:"firstKVEventObservedAt,omitempty"`

	// firstAvailableAt is when the backend was first able to serve in its present
	// mode; the clock of firstEventTimeout starts here.
	// +optional
	FirstAvailableAt *metav1.Time `json:"firstAvailableAt,omitempty"`

	// observedServerInstance identifies the Ready Pods of the managed store that
	// the controller last took as its baseline, as <uid>:<restarts> in the order
	// of Pod names. Engines are restarted when a Pod of it is replaced.
	// +optional
	ObservedServerInstance string `json:"observedServerInstance,omitempty"`

	// replicas is the number of Pods of the managed store, as the scale
	// subresource reports it.
	// +optional
	Replicas int32 `json:"replicas,omitempty"`

	// selector selects the Pods of the managed store, in the string form that the
	// scale subresource and a HorizontalPodAutoscaler use.
	// +optional
	Selector string `json:"selector,omitempty"`

	// observedGeneration is the metadata.generation that the controller last
	// reconciled.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are the latest observations of the backend's state, such as
	// Ready, Degraded and Progressing.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +patchStrategy=merge
	// +patchMergeKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`
}

// IndexParticipation is a backend's share of the live index.
type IndexParticipation struct {
	// prefixCount is the number of prefixes that the backend's engines hold. Zero
	// is an observation and therefore always written.
	PrefixCount int64 `json:"prefixCount"`

	// lastEventAt is when the latest KV event of the backend's engines arrived.
	// Absent before the first one and after the engines have gone.
	// +optional
	LastEventAt *metav1.Time `json:"lastEventAt,omitempty"`

	// hitRate is the share of queried tokens that the engines found in their own
	// cache, as a decimal from 0 to 1. Absent when no engine reports it.
	// +optional
	HitRate *string `json:"hitRate,omitempty"`

	// t2HitRate is the share of queried tokens that the second tier served, as a
	// decimal from 0 to 1. Absent until the tier was queried; "0" means that it
	// was queried and served nothing.
	// +optional
	T2HitRate *string `json:"t2HitRate,omitempty"`
}
