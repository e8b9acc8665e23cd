/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// CacheIndexName is the name of the only CacheIndex.
const CacheIndexName = "cluster-default"

// +genclient
// +genclient:nonNamespaced
// +genclient:onlyVerbs=get,list,watch
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CacheIndex is the live index of the whole cluster in numbers. There is one, it
// is named cluster-default, and it is computed when it is read or watched.
type CacheIndex struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// status is the present state of the index.
	// +optional
	Status CacheIndexStatus `json:"status,omitempty"`
}

// CacheIndexStatus is the state of the index. Lists are sorted by their keys.
type CacheIndexStatus struct {
	// observedBy is the server replica that answered.
	// +optional
	ObservedBy string `json:"observedBy,omitempty"`

	// asOf is when the answer was computed.
	// +optional
	AsOf *metav1.MicroTime `json:"asOf,omitempty"`

	// complete is false while sessions that the server expects are still being
	// rebuilt.
	// +optional
	Complete bool `json:"complete"`

	// observedServer is the server whose index is shown; the same as observedBy.
	// +optional
	ObservedServer string `json:"observedServer,omitempty"`

	// lastUpdated is when the content last changed.
	// +optional
	LastUpdated *metav1.Time `json:"lastUpdated,omitempty"`

	// prefixes counts prefixes over all replicas.
	Prefixes CacheIndexPrefixes `json:"prefixes"`

	// backends are the CacheBackends whose engines report.
	// +optional
	// +listType=map
	// +listMapKey=namespace
	// +listMapKey=name
	Backends []CacheIndexBackend `json:"backends,omitempty"`

	// replicas are the engine ranks that report.
	// +optional
	// +listType=map
	// +listMapKey=namespace
	// +listMapKey=pod
	// +listMapKey=rank
	Replicas []CacheIndexReplica `json:"replicas,omitempty"`

	// tenants are the tenants that own entries.
	// +optional
	// +listType=map
	// +listMapKey=id
	Tenants []CacheIndexTenant `json:"tenants,omitempty"`
}

// CacheIndexPrefixes counts prefixes over all replicas.
type CacheIndexPrefixes struct {
	// summary holds the totals.
	Summary CacheIndexPrefixSummary `json:"summary"`
}

// CacheIndexPrefixSummary holds the totals of prefixes.
type CacheIndexPrefixSummary struct {
	// total is the number of distinct prefixes.
	Total int64 `json:"total"`

	// hot is the number of prefixes that are in frequent use. Always 0 in this
	// version.
	Hot int64 `json:"hot"`
}

// CacheIndexBackend is one CacheBackend's share of the index. A counter that no
// engine of it reports is absent.
type CacheIndexBackend struct {
	// namespace is the namespace of the CacheBackend.
	Namespace string `json:"namespace"`

	// name is the name of the CacheBackend.
	Name string `json:"name"`

	// uid is the UID of the CacheBackend.
	// +optional
	UID types.UID `json:"uid,omitempty"`

	// prefixCount is the number of distinct prefixes that its engines hold.
	PrefixCount int64 `json:"prefixCount"`

	// lastEventAt is when the latest event of its engines happened, by their clocks.
	// +optional
	LastEventAt *metav1.Time `json:"lastEventAt,omitempty"`

	// hitTokens is the number of tokens that its engines found in their own cache
	// since they started.
	// +optional
	HitTokens *int64 `json:"hitTokens,omitempty"`

	// queryTokens is the number of tokens that its engines looked up in their own
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

	// cacheMemoryBytes is the size of its engines' caches, in bytes.
	// +optional
	CacheMemoryBytes *int64 `json:"cacheMemoryBytes,omitempty"`

	// pressure is that of its most loaded engine: requests in work and waiting as
	// a share of what an engine is meant to take, as a decimal from 0 to 1.
	// +optional
	Pressure *string `json:"pressure,omitempty"`

	// exact is false when the events of one of its engines leave something
	// undecided.
	Exact bool `json:"exact"`

	// complete is false while one of its engines' sessions is being rebuilt.
	Complete bool `json:"complete"`
}

// CacheIndexReplica is one engine rank's totals.
type CacheIndexReplica struct {
	// namespace is the namespace of the engine's Pod.
	Namespace string `json:"namespace"`

	// pod is the name of the engine's Pod.
	Pod string `json:"pod"`

	// rank is the data-parallel rank within the Pod, from 0.
	Rank int32 `json:"rank"`

	// id is the replica as LookupRoute names it: the Pod at rank 0, <pod>/<rank>
	// above. It is unique within a namespace only.
	ID string `json:"id"`

	// tenant is the tenant that the replica reports for.
	// +optional
	Tenant string `json:"tenant,omitempty"`

	// cacheMemoryBytes is the size of the engine's cache, in bytes. Absent when
	// the engine does not report it.
	// +optional
	CacheMemoryBytes *int64 `json:"cacheMemoryBytes,omitempty"`

	// hitRate is the share of queried tokens that the engine found in its cache,
	// as a decimal from 0 to 1. Absent without statistics.
	// +optional
	HitRate *string `json:"hitRate,omitempty"`

	// pressure is the engine's requests in work and waiting as a share of what it
	// is meant to take, as a decimal from 0 to 1. Absent without statistics.
	// +optional
	Pressure *string `json:"pressure,omitempty"`

	// lastUpdate is when the replica last reported.
	// +optional
	LastUpdate *metav1.Time `json:"lastUpdate,omitempty"`
}

// CacheIndexTenant is one tenant's share of the index.
type CacheIndexTenant struct {
	// id is the tenant.
	ID string `json:"id"`

	// indexEntries is the number of distinct prefixes kept for the tenant.
	// +optional
	IndexEntries *int64 `json:"indexEntries,omitempty"`

	// hitRate is the share of queried tokens that were found, as a decimal from 0
	// to 1. Absent without statistics.
	// +optional
	HitRate *string `json:"hitRate,omitempty"`

	// memoryUsed is always 0: memory on a shared engine cannot be told apart by
	// tenant. Read replicas[].cacheMemoryBytes instead.
	//
	// Deprecated: kept for the shape only.
	MemoryUsed int64 `json:"memoryUsed"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CacheIndexList is a list with the only CacheIndex.
type CacheIndexList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the CacheIndices.
	Items []CacheIndex `json:"items"`
}
