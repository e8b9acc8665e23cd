/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package inferencecache

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EvictionPolicy is the order in which the index drops entries at its cap.
type EvictionPolicy string

const (
	// EvictionLRU drops what was used longest ago.
	EvictionLRU EvictionPolicy = "LRU"
	// EvictionLFU drops what was used least often.
	EvictionLFU EvictionPolicy = "LFU"
)

// AffinityRouting switches the deterministic hint for prompts that match
// nothing.
type AffinityRouting string

const (
	// AffinityRoutingEnabled answers with a stable replica when nothing matches.
	AffinityRoutingEnabled AffinityRouting = "Enabled"
	// AffinityRoutingDisabled answers without a replica when nothing matches.
	AffinityRoutingDisabled AffinityRouting = "Disabled"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CachePolicy tunes lookups and index eviction for one namespace. A namespace
// has at most one.
type CachePolicy struct {
	metav1.TypeMeta
	// ObjectMeta is the standard object metadata.
	metav1.ObjectMeta
	// Spec is the wanted policy.
	Spec CachePolicySpec
	// Status is what the server made of it.
	Status CachePolicyStatus
}

// CachePolicySpec is the policy of a namespace. A floor that is absent does not
// apply.
type CachePolicySpec struct {
	// Eviction is the order in which index entries are dropped when a cap is
	// reached: LRU or LFU.
	Eviction EvictionPolicy
	// EvictionTTL drops index entries that were not seen for this long; greater
	// than zero.
	EvictionTTL *metav1.Duration
	// MinimumPrefixTokens is the shortest prefix, in tokens, that a lookup is
	// answered for.
	MinimumPrefixTokens *int32
	// MinimumMatchedTokens drops replicas that match fewer tokens than this.
	MinimumMatchedTokens *int32
	// RoutingFloorScore is the lowest best score, in milliseconds saved, that is
	// worth a hint, as a decimal such as "2.5": at most eight digits before the
	// point and six after it.
	RoutingFloorScore *string
	// LookupTimeoutMs is the time, in milliseconds, after which a lookup answers
	// TIMEOUT.
	LookupTimeoutMs *int32
	// Strategy says which kinds of lookup are accepted.
	Strategy *LookupStrategy
	// AffinityRouting says whether a prompt that matches nothing is answered with a
	// replica that is stable for it: Enabled or Disabled.
	AffinityRouting *AffinityRouting
	// CostModel has the figures that replicas are ranked by.
	CostModel *CostModel
}

// LookupStrategy says which kinds of lookup are accepted.
type LookupStrategy struct {
	// EnableChainMatching accepts chains of block hashes.
	EnableChainMatching *bool
	// RequireChain refuses lookups without a chain.
	RequireChain *bool
	// EnableTenantHot answers with the tenant's warm replicas when nothing matches.
	EnableTenantHot *bool
}

// CostModel has the figures from which a lookup expects the time to the first
// token. One that is absent takes its default.
type CostModel struct {
	// PrefillTokensPerSecond is the number of prompt tokens that an engine
	// computes in a second, at least 1. Defaults to 8000.
	PrefillTokensPerSecond *int64
	// T2TokensPerSecond is the number of cached tokens that an engine loads from
	// T2, host memory, in a second, at least 1. Defaults to 100000.
	T2TokensPerSecond *int64
	// T3TokensPerSecond is the number of cached tokens that an engine loads from
	// T3, remote storage, in a second, at least 1. Defaults to 20000.
	T3TokensPerSecond *int64
	// WaitingRequestTokens is the number of prompt tokens that an engine has
	// still to compute for each request that waits, 0 to 1048576. Defaults to
	// 1000.
	WaitingRequestTokens *int32
	// RunningRequestDelay is what each running request adds to the time to the
	// first token of a new one, 0s to 1m. Defaults to 1ms.
	RunningRequestDelay *metav1.Duration
	// StatsMaxAge is the age from which an engine's statistics are not relied
	// upon, greater than zero. Defaults to 45s.
	StatsMaxAge *metav1.Duration
}

// CachePolicyStatus is what the server made of a policy.
type CachePolicyStatus struct {
	// ObservedGeneration is the metadata.generation that was last taken into use.
	ObservedGeneration int64
	// Conditions are the latest observations of the policy's state.
	Conditions []metav1.Condition
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CachePolicyList is a list of CachePolicies.
type CachePolicyList struct {
	metav1.TypeMeta
	// ListMeta is the standard list metadata.
	metav1.ListMeta
	// Items are the CachePolicies.
	Items []CachePolicy
}
