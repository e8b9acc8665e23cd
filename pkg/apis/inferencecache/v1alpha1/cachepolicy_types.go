/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EvictionPolicy is the order in which the index drops entries at its cap.
// +enum
type EvictionPolicy string

const (
	// EvictionLRU drops what was used longest ago.
	EvictionLRU EvictionPolicy = "LRU"
	// EvictionLFU drops what was used least often.
	EvictionLFU EvictionPolicy = "LFU"
)

// AffinityRouting switches the deterministic hint for prompts that match
// nothing.
// +enum
type AffinityRouting string

const (
	// AffinityRoutingEnabled answers with a stable replica when nothing matches.
	AffinityRoutingEnabled AffinityRouting = "Enabled"
	// AffinityRoutingDisabled answers without a replica when nothing matches.
	AffinityRoutingDisabled AffinityRouting = "Disabled"
)

// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CachePolicy tunes lookups and index eviction for one namespace. A namespace
// has at most one.
type CachePolicy struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the wanted policy.
	// +optional
	Spec CachePolicySpec `json:"spec,omitempty"`
	// status is what the server made of it.
	// +optional
	Status CachePolicyStatus `json:"status,omitempty"`
}

// CachePolicySpec is the policy of a namespace. A floor that is absent does not
// apply.
type CachePolicySpec struct {
	// eviction is the order in which index entries are dropped when a cap is
	// reached: LRU or LFU. Defaults to LRU.
	// +optional
	Eviction EvictionPolicy `json:"eviction,omitempty"`

	// evictionTTL drops index entries that were not seen for this long; greater
	// than zero. Absent means that entries live as long as their holder's
	// session.
	// +optional
	EvictionTTL *metav1.Duration `json:"evictionTTL,omitempty"`

	// minimumPrefixTokens is the shortest prefix, in tokens, that a lookup is
	// answered for. Zero or absent applies no floor.
	// +optional
	MinimumPrefixTokens *int32 `json:"minimumPrefixTokens,omitempty"`

	// minimumMatchedTokens drops replicas that match fewer tokens than this. Zero
	// or absent applies no floor.
	// +optional
	MinimumMatchedTokens *int32 `json:"minimumMatchedTokens,omitempty"`

	// routingFloorScore is the lowest best score, in milliseconds saved, that is
	// worth a hint, as a decimal such as "2.5": at most eight digits before the
	// point and six after it. Absent applies no floor.
	// +optional
	RoutingFloorScore *string `json:"routingFloorScore,omitempty"`

	// lookupTimeoutMs is the time, in milliseconds, after which a lookup answers
	// TIMEOUT. Zero or absent sets no limit.
	// +optional
	LookupTimeoutMs *int32 `json:"lookupTimeoutMs,omitempty"`

	// strategy says which kinds of lookup are accepted.
	// +optional
	Strategy *LookupStrategy `json:"strategy,omitempty"`

	// affinityRouting says whether a prompt that matches nothing is answered with
	// a replica that is stable for it: Enabled or Disabled. Defaults to Enabled.
	// +optional
	AffinityRouting *AffinityRouting `json:"affinityRouting,omitempty"`

	// costModel has the figures that replicas are ranked by.
	// +optional
	CostModel *CostModel `json:"costModel,omitempty"`
}

// LookupStrategy says which kinds of lookup are accepted.
type LookupStrategy struct {
	// enableChainMatching accepts chains of block hashes. Defaults to true.
	// +optional
	EnableChainMatching *bool `json:"enableChainMatching,omitempty"`

	// requireChain refuses lookups without a chain. Needs enableChainMatching.
	// Defaults to false.
	// +optional
	RequireChain *bool `json:"requireChain,omitempty"`

	// enableTenantHot answers with the tenant's warm replicas when nothing
	// matches. Defaults to true.
	// +optional
	EnableTenantHot *bool `json:"enableTenantHot,omitempty"`
}

// CostModel has the figures from which a lookup expects the time to the first
// token. One that is absent takes its default.
type CostModel struct {
	// prefillTokensPerSecond is the number of prompt tokens that an engine
	// computes in a second, at least 1. Defaults to 8000.
	// +optional
	PrefillTokensPerSecond *int64 `json:"prefillTokensPerSecond,omitempty"`

	// t2TokensPerSecond is the number of cached tokens that an engine loads from
	// T2, host memory, in a second, at least 1. Defaults to 100000.
	// +optional
	T2TokensPerSecond *int64 `json:"t2TokensPerSecond,omitempty"`

	// t3TokensPerSecond is the number of cached tokens that an engine loads from
	// T3, remote storage, in a second, at least 1. Defaults to 20000.
	// +optional
	T3TokensPerSecond *int64 `json:"t3TokensPerSecond,omitempty"`

	// waitingRequestTokens is the number of prompt tokens that an engine has
	// still to compute for each request that waits, 0 to 1048576. Defaults to
	// 1000.
	// +optional
	WaitingRequestTokens *int32 `json:"waitingRequestTokens,omitempty"`

	// runningRequestDelay is what each running request adds to the time to the
	// first token of a new one, 0s to 1m. Defaults to 1ms.
	// +optional
	RunningRequestDelay *metav1.Duration `json:"runningRequestDelay,omitempty"`

	// statsMaxAge is the age from which an engine's statistics are not relied
	// upon, greater than zero. Defaults to 45s.
	// +optional
	StatsMaxAge *metav1.Duration `json:"statsMaxAge,omitempty"`
}

// CachePolicyStatus is what the server made of a policy.
type CachePolicyStatus struct {
	// observedGeneration is the metadata.generation that was last taken into use.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are the latest observations of the policy's state.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +patchStrategy=merge
	// +patchMergeKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CachePolicyList is a list of CachePolicies.
type CachePolicyList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the CachePolicies.
	Items []CachePolicy `json:"items"`
}
