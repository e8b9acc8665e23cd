/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package inferencecache

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// CacheIndexName is the name of the only CacheIndex.
const CacheIndexName = "cluster-default"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CacheIndex is the live index of the whole cluster in numbers. There is one, it
// is named cluster-default, and it is computed when it is read or watched.
type CacheIndex struct {
	metav1.TypeMeta
	// ObjectMeta is the standard object metadata.
	metav1.ObjectMeta
	// Status is the present state of the index.
	Status CacheIndexStatus
}

// CacheIndexStatus is the state of the index. Lists are sorted by their keys.
type CacheIndexStatus struct {
	// ObservedBy is the server replica that answered.
	ObservedBy string
	// AsOf is when the answer was computed.
	AsOf *metav1.MicroTime
	// Complete is false while sessions that the server expects are still being
	// rebuilt.
	Complete bool
	// ObservedServer is the server whose index is shown; the same as observedBy.
	ObservedServer string
	// LastUpdated is when the content last changed.
	LastUpdated *metav1.Time
	// Prefixes counts prefixes over all replicas.
	Prefixes CacheIndexPrefixes
	// Backends are the CacheBackends whose engines report.
	Backends []CacheIndexBackend
	// Replicas are the engine ranks that report.
	Replicas []CacheIndexReplica
	// Tenants are the tenants that own entries.
	Tenants []CacheIndexTenant
}

// CacheIndexPrefixes counts prefixes over all replicas.
type CacheIndexPrefixes struct {
	// Summary holds the totals.
	Summary CacheIndexPrefixSummary
}

// CacheIndexPrefixSummary holds the totals of prefixes.
type CacheIndexPrefixSummary struct {
	// Total is the number of distinct prefixes.
	Total int64
	// Hot is the number of prefixes that are in frequent use.
	Hot int64
}

// CacheIndexBackend is one CacheBackend's share of the index. A counter that no
// engine of it reports is absent.
type CacheIndexBackend struct {
	// Namespace is the namespace of the CacheBackend.
	Namespace string
	// Name is the name of the CacheBackend.
	Name string
	// UID is the UID of the CacheBackend.
	UID types.UID
	// PrefixCount is the number of distinct prefixes that its engines hold.
	PrefixCount int64
	// LastEventAt is when the latest event of its engines happened, by their clocks.
	LastEventAt *metav1.Time
	// HitTokens is the number of tokens that its engines found in their own cache
	// since they started.
	HitTokens *int64
	// QueryTokens is the number of tokens that its engines looked up in their own
	// cache since they started.
	QueryTokens *int64
	// T2HitTokens is the number of tokens that the second tier served since the
	// engines started.
	T2HitTokens *int64
	// T2QueryTokens is the number of tokens that were looked up in the second tier
	// since the engines started.
	T2QueryTokens *int64
	// CacheMemoryBytes is the size of its engines' caches, in bytes.
	CacheMemoryBytes *int64
	// Pressure is the share of the cache in use on its fullest engine, as a decimal
	// from 0 to 1.
	Pressure *string
	// Exact is false when the events of one of its engines leave something
	// undecided.
	Exact bool
	// Complete is false while one of its engines' sessions is being rebuilt.
	Complete bool
}

// CacheIndexReplica is one engine rank's totals.
type CacheIndexReplica struct {
	// Namespace is the namespace of the engine's Pod.
	Namespace string
	// Pod is the name of the engine's Pod.
	Pod string
	// Rank is the data-parallel rank within the Pod, from 0.
	Rank int32
	// ID is the replica as LookupRoute names it: the Pod at rank 0, <pod>/<rank>
	// above.
	ID string
	// Tenant is the tenant that the replica reports for.
	Tenant string
	// CacheMemoryBytes is the size of the engine's cache, in bytes.
	CacheMemoryBytes *int64
	// HitRate is the share of queried tokens that the engine found in its cache, as
	// a decimal from 0 to 1.
	HitRate *string
	// Pressure is the share of the engine's cache in use, as a decimal from 0 to 1.
	Pressure *string
	// LastUpdate is when the replica last reported.
	LastUpdate *metav1.Time
}

// CacheIndexTenant is one tenant's share of the index.
type CacheIndexTenant struct {
	// ID is the tenant.
	ID string
	// IndexEntries is the number of distinct prefixes kept for the tenant.
	IndexEntries *int64
	// HitRate is the share of queried tokens that were found, as a decimal from 0
	// to 1.
	HitRate *string
	// MemoryUsed is always 0: memory on a shared engine cannot be told apart by
	// tenant.
	//
	// Deprecated: kept for the shape only.
	MemoryUsed int64
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CacheIndexList is a list with the only CacheIndex.
type CacheIndexList struct {
	metav1.TypeMeta
	// ListMeta is the standard list metadata.
	metav1.ListMeta
	// Items are the CacheIndices.
	Items []CacheIndex
}
