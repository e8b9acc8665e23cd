/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CacheTier is where a block lies, from fast to slow.
// +enum
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
// +enum
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

	// summary adds up the backend's replicas.
	Summary ObservationSummary `json:"summary"`

	// replicas are the engine ranks of this backend.
	// +optional
	// +listType=map
	// +listMapKey=namespace
	// +listMapKey=pod
	// +listMapKey=rank
	Replicas []ObservedReplica `json:"replicas,omitempty"`

	// scopes are the key spaces in which the backend's replicas hold blocks.
	// +optional
	// +listType=atomic
	Scopes []ObservedScope `json:"scopes,omitempty"`
}

// ObservationSummary adds up the replicas of a backend. A counter that no engine
// reports is absent.
type ObservationSummary struct {
	// prefixCount is the number of distinct prefixes held.
	PrefixCount int64 `json:"prefixCount"`

	// blocks is the number of blocks held in each tier.
	Blocks TierBlocks `json:"blocks"`

	// replicas is the number of engine ranks known to the index.
	Replicas int64 `json:"replicas"`

	// firstEventAt is when the first event of the present replicas happened, by the
	// engines' clocks.
	// +optional
	FirstEventAt *metav1.MicroTime `json:"firstEventAt,omitempty"`

	// lastEventAt is when the latest event happened, by its engine's clock.
	// +optional
	LastEventAt *metav1.MicroTime `json:"lastEventAt,omitempty"`

	// hitTokens is the number of tokens that the engines found in their own
	// cache since they started.
	// +optional
	HitTokens *int64 `json:"hitTokens,omitempty"`

	// queryTokens is the number of tokens that the engines looked up in their own
	// cache since they started.
	// +optional
	QueryTokens *int64 `json:"queryTokens,omitempty"`

	// t2HitTokens is the number of tokens that the second tier served since the
	// engines started.
	// +optional
	T2HitTokens *int64 `json:"t2HitTokens,omitempty"`

	// t2QueryTokens is the number of tokens that were looked up in the second
	// tier since the engines started.
	// +optional
	T2QueryTokens *int64 `json:"t2QueryTokens,omitempty"`

	// cacheMemoryBytes is the size of the engines' caches, in bytes.
	// +optional
	CacheMemoryBytes *int64 `json:"cacheMemoryBytes,omitempty"`

	// pressure is that of the most loaded replica: its requests in work and
	// waiting as a share of what an engine is meant to take, as a decimal from 0
	// to 1.
	// +optional
	Pressure *string `json:"pressure,omitempty"`
}

// TierBlocks counts blocks by tier.
type TierBlocks struct {
	// t1 is the number of blocks in accelerator memory.
	T1 int64 `json:"t1"`

	// t2 is the number of blocks in host memory or a store reloaded from.
	T2 int64 `json:"t2"`

	// t3 is the number of blocks in a remote store.
	T3 int64 `json:"t3"`
}

// ObservedReplica is one engine rank as the index knows it.
type ObservedReplica struct {
	// namespace is the namespace of the engine's Pod.
	Namespace string `json:"namespace"`

	// pod is the name of the engine's Pod.
	Pod string `json:"pod"`

	// rank is the data-parallel rank within the Pod, from 0.
	Rank int32 `json:"rank"`

	// state says how far the entry may be trusted: Live, Suspect, Rebuilding or
	// Degraded.
	State ReplicaState `json:"state"`

	// epoch numbers the life of the engine that the entry describes; it changes
	// when the engine restarts.
	Epoch int64 `json:"epoch"`

	// sequence is the number of the last report applied within the epoch.
	Sequence int64 `json:"sequence"`

	// lastEventAt is when the rank's latest event happened, by the engine's clock.
	// +optional
	LastEventAt *metav1.MicroTime `json:"lastEventAt,omitempty"`

	// engine is the inference engine that reports.
	Engine string `json:"engine"`

	// model is the model that the rank serves.
	Model string `json:"model"`

	// blockSize is the number of tokens in one block, 0 until an event told it.
	BlockSize int64 `json:"blockSize"`

	// groups are the KV-cache groups that the rank announced.
	// +optional
	// +listType=map
	// +listMapKey=index
	Groups []KVCacheGroup `json:"groups,omitempty"`

	// exact is false when the engine's events leave something undecided, so that
	// matches on this rank are a bound and not a promise.
	Exact bool `json:"exact"`

	// conflicts is the number of times that one content arrived under two hashes.
	Conflicts int64 `json:"conflicts"`

	// prefixCount is the number of distinct prefixes that the rank holds.
	PrefixCount int64 `json:"prefixCount"`

	// blocks is the number of blocks that the rank holds in each tier.
	Blocks TierBlocks `json:"blocks"`

	// load is the engine's own account of its load. Absent when it gives none.
	// +optional
	Load *EngineLoad `json:"load,omitempty"`
}

// KVCacheGroup is a set of layers that keep their blocks together.
type KVCacheGroup struct {
	// index numbers the group within the engine, from 0.
	Index int32 `json:"index"`

	// kind is the attention that the group's layers use, as the engine names it.
	Kind string `json:"kind"`

	// window is the number of tokens that the group looks back. Absent when it
	// sees the whole prompt.
	// +optional
	Window *int64 `json:"window,omitempty"`
}

// EngineLoad is an engine's own account of its load.
type EngineLoad struct {
	// running is the number of requests in work.
	Running int64 `json:"running"`

	// waiting is the number of requests that wait.
	Waiting int64 `json:"waiting"`

	// cacheUsage is the share of the cache in use, as a decimal from 0 to 1.
	// +optional
	CacheUsage *string `json:"cacheUsage,omitempty"`
}

// BlockScope is a key space of the index: block hashes are comparable within one
// scope and never across two.
type BlockScope struct {
	// model is the model whose attention state the blocks hold.
	Model string `json:"model"`

	// hashScheme is the way in which blocks are keyed.
	HashScheme string `json:"hashScheme"`

	// adapter is the LoRA adapter, empty for the base model.
	// +optional
	Adapter string `json:"adapter,omitempty"`

	// salted is true when the blocks were computed under a cache salt.
	Salted bool `json:"salted"`

	// blockSize is the number of tokens in one block.
	BlockSize int64 `json:"blockSize"`
}

// ObservedScope is a key space together with what a backend holds in it.
type ObservedScope struct {
	BlockScope `json:",inline"`

	// blocks is the number of blocks that the backend's replicas hold in the
	// scope, in any tier.
	Blocks int64 `json:"blocks"`
}

// +k8s:conversion-gen:explicit-from=net/url.Values
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CacheBackendObservationOptions are the query parameters of the subresource
// observation.
type CacheBackendObservationOptions struct {
	metav1.TypeMeta `json:",inline"`

	// limit bounds the number of replicas in the answer. Zero asks for the
	// server's own bound.
	// +optional
	Limit int64 `json:"limit,omitempty"`

	// tier shows only replicas that hold blocks in this tier: T1, T2 or T3.
	// +optional
	Tier string `json:"tier,omitempty"`

	// model shows only replicas and scopes of this model.
	// +optional
	Model string `json:"model,omitempty"`

	// watch asks for a stream. It is refused: an observation is read once.
	// +optional
	Watch bool `json:"watch,omitempty"`
}
