/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package inferencecache

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CacheTier is where a block lies, from fast to slow.
type CacheTier string

const (
	// CacheTierT1 is the engine's own accelerator memory.
	CacheTierT1 CacheTier = "T1"
	// CacheTierT2 is host memory or another store that the engine reloads from.
	CacheTierT2 CacheTier = "T2"
	// CacheTierT3 is a remote store.
	CacheTierT3 CacheTier = "T3"
)

// ReplicaState says how far the index may trust what it knows of a replica.
type ReplicaState string

const (
	// ReplicaStateLive means that the replica's session is open and gapless.
	ReplicaStateLive ReplicaState = "Live"
	// ReplicaStateSuspect means that the session was lost and its lease runs.
	ReplicaStateSuspect ReplicaState = "Suspect"
	// ReplicaStateRebuilding means that a snapshot of the replica is under way.
	ReplicaStateRebuilding ReplicaState = "Rebuilding"
	// ReplicaStateDegraded means that the session is open, but that events are
	// known to be missing or ambiguous.
	ReplicaStateDegraded ReplicaState = "Degraded"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CacheBackendObservation is what the live index knows of one CacheBackend at
// this moment. It is read as the subresource observation, never stored, and
// carries the name, namespace and UID of its CacheBackend. Lists are sorted, so
// that servers in equal state answer alike but for observedBy and asOf.
type CacheBackendObservation struct {
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
	// Summary adds up the backend's replicas.
	Summary ObservationSummary
	// Replicas are the engine ranks of this backend.
	Replicas []ObservedReplica
	// Scopes are the key spaces in which the backend's replicas hold blocks.
	Scopes []ObservedScope
}

// ObservationSummary adds up the replicas of a backend. A counter that no engine
// reports is absent.
type ObservationSummary struct {
	// PrefixCount is the number of distinct prefixes held.
	PrefixCount int64
	// Blocks is the number of blocks held in each tier.
	Blocks TierBlocks
	// Replicas is the number of engine ranks known to the index.
	Replicas int64
	// FirstEventAt is when the first event of the present replicas happened, by the
	// engines' clocks.
	FirstEventAt *metav1.MicroTime
	// LastEventAt is when the latest event happened, by its engine's clock.
	LastEventAt *metav1.MicroTime
	// HitTokens is the number of tokens that the engines found in their own cache
	// since they started.
	HitTokens *int64
	// QueryTokens is the number of tokens that the engines looked up in their own
	// cache since they started.
	QueryTokens *int64
	// T2HitTokens is the number of tokens that the second tier served since the
	// engines started.
	T2HitTokens *int64
	// T2QueryTokens is the number of tokens that were looked up in the second tier
	// since the engines started.
	T2QueryTokens *int64
	// CacheMemoryBytes is the size of the engines' caches, in bytes.
	CacheMemoryBytes *int64
	// Pressure is the share of the cache in use on the fullest replica, as a
	// decimal from 0 to 1.
	Pressure *string
}

// TierBlocks counts blocks by tier.
type TierBlocks struct {
	// T1 is the number of blocks in accelerator memory.
	T1 int64
	// T2 is the number of blocks in host memory or a store reloaded from.
	T2 int64
	// T3 is the number of blocks in a remote store.
	T3 int64
}

// ObservedReplica is one engine rank as the index knows it.
type ObservedReplica struct {
	// Namespace is the namespace of the engine's Pod.
	Namespace string
	// Pod is the name of the engine's Pod.
	Pod string
	// Rank is the data-parallel rank within the Pod, from 0.
	Rank int32
	// State says how far the entry may be trusted: Live, Suspect, Rebuilding or
	// Degraded.
	State ReplicaState
	// Epoch numbers the life of the engine that the entry describes; it changes
	// when the engine restarts.
	Epoch int64
	// Sequence is the number of the last report applied within the epoch.
	Sequence int64
	// LastEventAt is when the rank's latest event happened, by the engine's clock.
	LastEventAt *metav1.MicroTime
	// Engine is the inference engine that reports.
	Engine string
	// Model is the model that the rank serves.
	Model string
	// BlockSize is the number of tokens in one block, 0 until an event told it.
	BlockSize int64
	// Groups are the KV-cache groups that the rank announced.
	Groups []KVCacheGroup
	// Exact is false when the engine's events leave something undecided, so that
	// matches on this rank are a bound and not a promise.
	Exact bool
	// Conflicts is the number of times that one content arrived under two hashes.
	Conflicts int64
	// PrefixCount is the number of distinct prefixes that the rank holds.
	PrefixCount int64
	// Blocks is the number of blocks that the rank holds in each tier.
	Blocks TierBlocks
	// Load is the engine's own account of its load.
	Load *EngineLoad
}

// KVCacheGroup is a set of layers that keep their blocks together.
type KVCacheGroup struct {
	// Index numbers the group within the engine, from 0.
	Index int32
	// Kind is the attention that the group's layers use, as the engine names it.
	Kind string
	// Window is the number of tokens that the group looks back.
	Window *int64
}

// EngineLoad is an engine's own account of its load.
type EngineLoad struct {
	// Running is the number of requests in work.
	Running int64
	// Waiting is the number of requests that wait.
	Waiting int64
	// CacheUsage is the share of the cache in use, as a decimal from 0 to 1.
	CacheUsage *string
}

// BlockScope is a key space of the index: block hashes are comparable within one
// scope and never across two.
type BlockScope struct {
	// Model is the model whose attention state the blocks hold.
	Model string
	// HashScheme is the way in which blocks are keyed.
	HashScheme string
	// Adapter is the LoRA adapter, empty for the base model.
	Adapter string
	// Salted is true when the blocks were computed under a cache salt.
	Salted bool
	// BlockSize is the number of tokens in one block.
	BlockSize int64
}

// ObservedScope is a key space together with what a backend holds in it.
type ObservedScope struct {
	BlockScope
	// Blocks is the number of blocks that the backend's replicas hold in the
	// scope, in any tier.
	Blocks int64
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CacheBackendObservationOptions are the query parameters of the subresource
// observation.
type CacheBackendObservationOptions struct {
	metav1.TypeMeta
	// Limit bounds the number of replicas in the answer.
	Limit int64
	// Tier shows only replicas that hold blocks in this tier: T1, T2 or T3.
	Tier string
	// Model shows only replicas and scopes of this model.
	Model string
	// Watch asks for a stream.
	Watch bool
}
