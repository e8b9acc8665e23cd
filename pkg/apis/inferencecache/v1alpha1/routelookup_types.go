/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RouteReason says how a lookup ended. Anything but PREFIX_MATCH means that a
// router may route as it would without the index; a reason that a client does
// not know is to be read as NO_HINT.
// +enum
type RouteReason string

const (
	// RouteReasonPrefixMatch means that a replica holds a prefix of the prompt.
	RouteReasonPrefixMatch RouteReason = "PREFIX_MATCH"
	// RouteReasonTenantHot names replicas that are warm for the tenant.
	RouteReasonTenantHot RouteReason = "TENANT_HOT"
	// RouteReasonAffinityHint names a replica that is stable for the prompt.
	RouteReasonAffinityHint RouteReason = "AFFINITY_HINT"
	// RouteReasonNoHint means that the index has nothing to say.
	RouteReasonNoHint RouteReason = "NO_HINT"
	// RouteReasonPolicyRequiresChain means that the policy wants a chain.
	RouteReasonPolicyRequiresChain RouteReason = "POLICY_REQUIRES_CHAIN"
	// RouteReasonTimeout means that the time for the lookup was over.
	RouteReasonTimeout RouteReason = "TIMEOUT"
	// RouteReasonUnknownTenant means that the index knows no such tenant.
	RouteReasonUnknownTenant RouteReason = "UNKNOWN_TENANT"
	// RouteReasonUnknownModel means that the tenant has no such model.
	RouteReasonUnknownModel RouteReason = "UNKNOWN_MODEL"
	// RouteReasonUnknownHashScheme means that the model has no such hash scheme.
	RouteReasonUnknownHashScheme RouteReason = "UNKNOWN_HASH_SCHEME"
)

// +genclient
// +genclient:onlyVerbs=create
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// RouteLookup asks the live index which engines hold the longest prefix of a
// prompt. It is created to get its status and is never stored.
type RouteLookup struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata. A name is made up when none is
	// given.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the question.
	Spec RouteLookupSpec `json:"spec"`
	// status is the answer.
	// +optional
	Status RouteLookupStatus `json:"status,omitempty"`
}

// RouteLookupSpec is a prompt in exactly one of three forms: token ids, a chain
// of block hashes, or the hash of an exact prefix.
type RouteLookupSpec struct {
	// modelID is the model that will serve the prompt.
	ModelID string `json:"modelID"`

	// tenantID is the tenant whose entries are searched. The namespace of the
	// lookup when it is empty.
	// +optional
	TenantID string `json:"tenantID,omitempty"`

	// hashScheme restricts the search to one way of keying blocks. All schemes of
	// the model are searched when it is empty.
	// +optional
	HashScheme string `json:"hashScheme,omitempty"`

	// adapterID is the LoRA adapter, empty for the base model.
	// +optional
	AdapterID string `json:"adapterID,omitempty"`

	// cacheSalt is the salt that the request carries, empty for none.
	// +optional
	CacheSalt string `json:"cacheSalt,omitempty"`

	// tokenIDs are the token ids of the prompt, each 0 to 4294967295.
	// +optional
	// +listType=atomic
	TokenIDs []int64 `json:"tokenIDs,omitempty"`

	// blockHashes is the chain of keys of the prompt's full blocks, from the
	// first on: 16 lower-case hex digits each.
	// +optional
	// +listType=atomic
	BlockHashes []string `json:"blockHashes,omitempty"`

	// blockTokenCounts are the numbers of tokens in the blocks of blockHashes.
	// When given there is one for each hash.
	// +optional
	// +listType=atomic
	BlockTokenCounts []int64 `json:"blockTokenCounts,omitempty"`

	// prefixHash is the key of one block, asked for exactly: 16 lower-case hex
	// digits.
	// +optional
	PrefixHash string `json:"prefixHash,omitempty"`

	// topK bounds the number of replicas in the answer, at least 1. All are
	// listed when it is absent.
	// +optional
	TopK *int32 `json:"topK,omitempty"`

	// explain asks for a sentence of reasoning with every replica. RouteLookups
	// are answered with it in either case.
	// +optional
	Explain bool `json:"explain,omitempty"`
}

// RouteLookupStatus is the answer to a lookup.
type RouteLookupStatus struct {
	// reason says how the lookup ended.
	// +optional
	Reason RouteReason `json:"reason,omitempty"`

	// explanation says in one line why the lookup ended so, such as which floor of
	// the policy a match did not reach.
	// +optional
	Explanation string `json:"explanation,omitempty"`

	// tokens is the length of the prompt in tokens, as far as it is known.
	// +optional
	Tokens int64 `json:"tokens,omitempty"`

	// replicas are the candidates, best first.
	// +optional
	// +listType=atomic
	Replicas []RouteCandidate `json:"replicas,omitempty"`

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
}

// RouteCandidate is one engine rank that a prompt may be sent to.
type RouteCandidate struct {
	// namespace is the namespace of the engine's Pod.
	Namespace string `json:"namespace"`

	// pod is the name of the engine's Pod.
	Pod string `json:"pod"`

	// rank is the data-parallel rank within the Pod, from 0.
	Rank int32 `json:"rank"`

	// matchedTokens is the number of tokens that the engine will reuse.
	MatchedTokens int64 `json:"matchedTokens"`

	// t2Tokens are those of matchedTokens whose nearest tier is T2.
	T2Tokens int32 `json:"t2Tokens"`

	// t3Tokens are those of matchedTokens whose nearest tier is T3. What is
	// neither in T2 nor in T3 is in T1.
	T3Tokens int32 `json:"t3Tokens"`

	// exact is false when matchedTokens is a bound and not a promise.
	Exact bool `json:"exact"`

	// inferred is true when part of the match was concluded and not announced.
	Inferred bool `json:"inferred"`

	// tier is the slowest tier that the match lies in. Empty without a match.
	// +optional
	Tier CacheTier `json:"tier,omitempty"`

	// state says how far the entry may be trusted.
	State ReplicaState `json:"state"`

	// sequence is the number of the last delta of the engine that the answer
	// counts in. It starts anew with every epoch.
	Sequence int64 `json:"sequence"`

	// expectedTTFTMilliseconds is the time to the first token that is expected on
	// this candidate, as a decimal.
	ExpectedTTFTMilliseconds string `json:"expectedTTFTMilliseconds"`

	// score is what the candidate is ranked by, the greater the better, as a
	// decimal: the milliseconds to the first token that it is expected to save
	// against the best one that holds nothing.
	Score string `json:"score"`

	// explanation is the reasoning in one line.
	// +optional
	Explanation string `json:"explanation,omitempty"`
}
