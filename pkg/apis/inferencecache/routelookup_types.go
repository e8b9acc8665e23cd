/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package inferencecache

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RouteReason says how a lookup ended. Anything but PREFIX_MATCH means that a
// router may route as it would without the index; a reason that a client does
// not know is to be read as NO_HINT.
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

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// RouteLookup asks the live index which engines hold the longest prefix of a
// prompt. It is created to get its status and is never stored.
type RouteLookup struct {
	metav1.TypeMeta
	// ObjectMeta is the standard object metadata.
	metav1.ObjectMeta
	// Spec is the question.
	Spec RouteLookupSpec
	// Status is the answer.
	Status RouteLookupStatus
}

// RouteLookupSpec is a prompt in exactly one of three forms: token ids, a chain
// of block hashes, or the hash of an exact prefix.
type RouteLookupSpec struct {
	// ModelID is the model that will serve the prompt.
	ModelID string
	// TenantID is the tenant whose entries are searched.
	TenantID string
	// HashScheme restricts the search to one way of keying blocks.
	HashScheme string
	// AdapterID is the LoRA adapter, empty for the base model.
	AdapterID string
	// CacheSalt is the salt that the request carries, empty for none.
	CacheSalt string
	// TokenIDs are the token ids of the prompt, each 0 to 4294967295.
	TokenIDs []int64
	// BlockHashes is the chain of keys of the prompt's full blocks, from the first
	// on: 16 lower-case hex digits each.
	BlockHashes []string
	// BlockTokenCounts are the numbers of tokens in the blocks of blockHashes.
	BlockTokenCounts []int64
	// PrefixHash is the key of one block, asked for exactly: 16 lower-case hex
	// digits.
	PrefixHash string
	// TopK bounds the number of replicas in the answer, at least 1.
	TopK *int32
	// Explain asks for a sentence of reasoning with every replica. RouteLookups
	// are answered with it in either case.
	Explain bool
}

// RouteLookupStatus is the answer to a lookup.
type RouteLookupStatus struct {
	// Reason says how the lookup ended.
	Reason RouteReason
	// Explanation says in one line why the lookup ended so, such as which floor of
	// the policy a match did not reach.
	Explanation string
	// Tokens is the length of the prompt in tokens, as far as it is known.
	Tokens int64
	// Replicas are the candidates, best first.
	Replicas []RouteCandidate
	// ObservedBy is the server replica that answered.
	ObservedBy string
	// AsOf is when the answer was computed.
	AsOf *metav1.MicroTime
	// Complete is false while sessions that the server expects are still being
	// rebuilt.
	Complete bool
}

// RouteCandidate is one engine rank that a prompt may be sent to.
type RouteCandidate struct {
	// Namespace is the namespace of the engine's Pod.
	Namespace string
	// Pod is the name of the engine's Pod.
	Pod string
	// Rank is the data-parallel rank within the Pod, from 0.
	Rank int32
	// MatchedTokens is the number of tokens that the engine will reuse.
	MatchedTokens int64
	// T2Tokens are those of matchedTokens whose nearest tier is T2.
	T2Tokens int32
	// T3Tokens are those of matchedTokens whose nearest tier is T3. What is
	// neither in T2 nor in T3 is in T1.
	T3Tokens int32
	// Exact is false when matchedTokens is a bound and not a promise.
	Exact bool
	// Inferred is true when part of the match was concluded and not announced.
	Inferred bool
	// Tier is the slowest tier that the match lies in.
	Tier CacheTier
	// State says how far the entry may be trusted.
	State ReplicaState
	// Sequence is the number of the last delta of the engine that the answer
	// counts in. It starts anew with every epoch.
	Sequence int64
	// ExpectedTTFTMilliseconds is the time to the first token that is expected on
	// this candidate, as a decimal.
	ExpectedTTFTMilliseconds string
	// Score is what the candidate is ranked by, the greater the better, as a
	// decimal: the milliseconds to the first token that it is expected to save
	// against the best one that holds nothing.
	Score string
	// Explanation is the reasoning in one line.
	Explanation string
}
