/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CacheBackendSnapshot lists the chains that the replicas of one CacheBackend
// hold at this moment. It is read page by page as the subresource snapshot and
// never stored. It lists hashes of prompts: enough to test whether a known text
// was sent, so that reading it is a right of its own.
type CacheBackendSnapshot struct {
	metav1.TypeMeta `json:",inline"`
	// metadata names the CacheBackend that was observed.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// observedBy is the server replica that answered.
	ObservedBy string `json:"observedBy"`

	// asOf is when the answer was computed.
	AsOf metav1.MicroTime `json:"asOf"`

	// complete is false while sessions that the server expects are still being
	// rebuilt, so that more may be cached than is shown.
	Complete bool `json:"complete"`

	// items are the chains, in a stable order.
	// +listType=atomic
	Items []SnapshotItem `json:"items"`

	// continue is passed back to read the next page. Empty on the last one.
	// +optional
	Continue string `json:"continue,omitempty"`
}

// SnapshotItem is one chain of blocks, named by its last block.
type SnapshotItem struct {
	// scope is the key space of the chain.
	Scope BlockScope `json:"scope"`

	// hash is the key of the last block of the chain: 16 lower-case hex digits.
	Hash string `json:"hash"`

	// tokens is the length of the chain in tokens.
	Tokens int64 `json:"tokens"`

	// tier is the slowest tier in which a block of the chain lies.
	Tier CacheTier `json:"tier"`

	// replicas are the engine ranks that hold the whole chain.
	// +listType=atomic
	Replicas []SnapshotReplica `json:"replicas"`
}

// SnapshotReplica names an engine rank in the namespace of the CacheBackend.
type SnapshotReplica struct {
	// pod is the name of the engine's Pod.
	Pod string `json:"pod"`

	// rank is the data-parallel rank within the Pod, from 0.
	Rank int32 `json:"rank"`
}

// +k8s:conversion-gen:explicit-from=net/url.Values
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CacheBackendSnapshotOptions are the query parameters of the subresource
// snapshot.
type CacheBackendSnapshotOptions struct {
	metav1.TypeMeta `json:",inline"`

	// limit bounds the number of items in the answer. Zero asks for the server's
	// own bound.
	// +optional
	Limit int64 `json:"limit,omitempty"`

	// tier shows only chains of this tier: T1, T2 or T3.
	// +optional
	Tier string `json:"tier,omitempty"`

	// model shows only chains of this model.
	// +optional
	Model string `json:"model,omitempty"`

	// continue is the value of the field of that name in the page before.
	// +optional
	Continue string `json:"continue,omitempty"`

	// watch asks for a stream. It is refused: a snapshot is read page by page.
	// +optional
	Watch bool `json:"watch,omitempty"`
}
