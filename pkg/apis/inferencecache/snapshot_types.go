/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package inferencecache

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CacheBackendSnapshot lists the chains that the replicas of one CacheBackend
// hold at this moment. It is read page by page as the subresource snapshot and
// never stored. It lists hashes of prompts: enough to test whether a known text
// was sent, so that reading it is a right of its own.
type CacheBackendSnapshot struct {
	metav1.TypeMeta
	// ObjectMeta names the CacheBackend that was observed.
	metav1.ObjectMeta
	// ObservedBy is the server replica that answered.
	ObservedBy string
	// AsOf is when the answer was computed.
	AsOf metav1.MicroTime
	// Complete is false while sessions that the server expects are still being
	// rebuilt, so that more may be cached than is shown.
	Complete bool
	// Items are the chains, in a stable order.
	Items []SnapshotItem
	// Continue is passed back to read the next page.
	Continue string
}

// SnapshotItem is one chain of blocks, named by its last block.
type SnapshotItem struct {
	// Scope is the key space of the chain.
	Scope BlockScope
	// Hash is the key of the last block of the chain: 16 lower-case hex digits.
	Hash string
	// Tokens is the length of the chain in tokens.
	Tokens int64
	// Tier is the slowest tier in which a block of the chain lies.
	Tier CacheTier
	// Replicas are the engine ranks that hold the whole chain.
	Replicas []SnapshotReplica
}

// SnapshotReplica names an engine rank in the namespace of the CacheBackend.
type SnapshotReplica struct {
	// Pod is the name of the engine's Pod.
	Pod string
	// Rank is the data-parallel rank within the Pod, from 0.
	Rank int32
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CacheBackendSnapshotOptions are the query parameters of the subresource
// snapshot.
type CacheBackendSnapshotOptions struct {
	metav1.TypeMeta
	// Limit bounds the number of items in the answer.
	Limit int64
	// Tier shows only chains of this tier: T1, T2 or T3.
	Tier string
	// Model shows only chains of this model.
	Model string
	// Continue is the value of the field of that name in the page before.
	Continue string
	// Watch asks for a stream.
	Watch bool
}
