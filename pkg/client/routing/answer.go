/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"context"
	"errors"
	"fmt"
	"time"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// Reason says what an answer rests on.
type Reason string

// The reasons of the contract. What an index gives beyond them becomes NoHint.
const (
	// PrefixMatch: the replicas reuse a part of the prompt.
	PrefixMatch Reason = "PREFIX_MATCH"
	// TenantHot: nothing matched, but the replicas' caches work for this tenant.
	TenantHot Reason = "TENANT_HOT"
	// AffinityHint: nothing matched; the replica is where the conversation would
	// meet itself again.
	AffinityHint Reason = "AFFINITY_HINT"
	// NoHint: there is nothing to say, or nobody to say it.
	NoHint Reason = "NO_HINT"
	// PolicyRequiresChain: the tenant's policy wants a Chain.
	PolicyRequiresChain Reason = "POLICY_REQUIRES_CHAIN"
	// Timeout: the deadline passed first, here or in the index.
	Timeout Reason = "TIMEOUT"
	// UnknownTenant, UnknownModel and UnknownHashScheme: the outermost part of the
	// question for which no engine reports.
	UnknownTenant     Reason = "UNKNOWN_TENANT"
	UnknownModel      Reason = "UNKNOWN_MODEL"
	UnknownHashScheme Reason = "UNKNOWN_HASH_SCHEME"
)

// Hint tells whether answers with this reason name replicas to prefer.
func (r Reason) Hint() bool {
	return r == PrefixMatch || r == TenantHot || r == AffinityHint
}

// known tells whether the contract has this reason.
func (r Reason) known() bool {
	switch r {
	case PrefixMatch, TenantHot, AffinityHint, NoHint, PolicyRequiresChain, Timeout,
		UnknownTenant, UnknownModel, UnknownHashScheme:
		return true
	}
	return false
}

// Tier is how near to the engine blocks lie.
type Tier int32

// The tiers, nearest first.
const (
	// TierUnknown: the index did not say.
	TierUnknown Tier = iota
	// T1 is the engine's own memory.
	T1
	// T2 is the memory of the host, or another store local to the engine.
	T2
	// T3 is remote storage.
	T3
)

// Answer is what is known about a prompt. It is the caller's own.
type Answer struct {
	// Reason says what the answer rests on.
	Reason Reason
	// Replicas are the engine ranks to prefer, best first; empty unless
	// Reason.Hint.
	Replicas []Replica
	// PromptTokens is the length of the prompt, 0 when it is unknown.
	PromptTokens int
	// TokenIDs are those of a query with Text, so that the engine can be sent the
	// same ones.
	TokenIDs []uint32
	// ObservedBy is the name of the index replica that answered, empty when none
	// did.
	ObservedBy string
	// Complete is false while that replica still misses the state of an engine
	// that it knows of: there may be more than it says.
	Complete bool
	// Explanation is the reasoning, when the query asked for it or was refused.
	Explanation string
	// Err says why no index answered; nil when one did. It wraps
	// context.DeadlineExceeded when time ran out, ErrClosed after Close, and
	// otherwise names each replica that was asked and what became of it. The
	// Reason is Timeout or NoHint.
	Err error
}

// Best returns the replica to prefer, and false when there is none.
func (a *Answer) Best() (Replica, bool) {
	if !a.Reason.Hint() || len(a.Replicas) == 0 {
		return Replica{}, false
	}
	return a.Replicas[0], true
}

// Replica is one rank of one engine.
type Replica struct {
	// ID is the Pod's name at rank 0 and <pod>/<rank> above.
	ID string
	// Namespace and Pod name the engine's Pod, Rank its data-parallel rank.
	Namespace, Pod string
	Rank           uint32
	// MatchedTokens is the number of tokens of the prompt that the engine will
	// reuse. T2Tokens and T3Tokens are those of them that have to be loaded first.
	MatchedTokens, T2Tokens, T3Tokens int
	// Exact is false when MatchedTokens is a bound and not the engine's own number.
	Exact bool
	// Inferred is true when the match rests on blocks that were concluded and not
	// announced.
	Inferred bool
	// Score is the time to the first token that this replica is expected to save
	// against the best one that holds nothing, in milliseconds.
	Score float64
	// ExpectedTTFT is the expected time to the first token, 0 when there is none.
	ExpectedTTFT time.Duration
	// HitProbability is from 0 to 1.
	HitProbability float64
	// Tier is the farthest tier among the matched blocks.
	Tier Tier
	// State is Live, Suspect, Rebuilding or Degraded.
	State string
	// Sequence is the last change of the engine that the index has applied, and
	// EventAge the time since its newest event; 0 when it has announced nothing.
	Sequence uint64
	EventAge time.Duration
	// Explanation is the reasoning, when the query asked for it.
	Explanation string
}

// failed is the answer when no index gave one.
func failed(err error) Answer {
	reason := NoHint
	if errors.Is(err, context.DeadlineExceeded) {
		reason = Timeout
	}
	return Answer{Reason: reason, Err: err}
}

// answerOf reads a response. Of a reason that is not known here the contract says
// that it means no hint, whatever comes with it.
func answerOf(in *pb.LookupRouteResponse) Answer {
	out := Answer{
		Reason: Reason(in.GetReasonCode()), PromptTokens: int(in.GetPromptTokens()), TokenIDs: in.GetTokenIds(),
		ObservedBy: in.GetObservedBy(), Complete: in.GetComplete(), Explanation: in.GetExplanation(),
	}
	if !out.Reason.known() {
		out.Explanation = fmt.Sprintf("the index gave the reason %q, which this client does not know", out.Reason)
		out.Reason = NoHint
	}
	if scores := in.GetReplicaScores(); out.Reason.Hint() && len(scores) > 0 {
		out.Replicas = make([]Replica, len(scores))
		for i, score := range scores {
			out.Replicas[i] = replicaOf(score)
		}
	}
	return out
}

// replicaOf reads one entry of a ranking.
func replicaOf(in *pb.ReplicaScore) Replica {
	return Replica{
		ID: in.GetReplicaId(), Namespace: in.GetNamespace(), Pod: in.GetPod(), Rank: in.GetRank(),
		MatchedTokens: int(in.GetMatchedTokens()), T2Tokens: int(in.GetT2Tokens()), T3Tokens: int(in.GetT3Tokens()),
		Exact: in.GetExact(), Inferred: in.GetInferred(), Score: float64(in.GetScore()),
		ExpectedTTFT:   time.Duration(float64(in.GetExpectedTtftMs()) * float64(time.Millisecond)),
		HitProbability: float64(in.GetEstimatedCacheHitProb()), Tier: Tier(in.GetTier()), State: in.GetState(),
		Sequence: in.GetSequence(), EventAge: time.Duration(in.GetEventAgeMs()) * time.Millisecond,
		Explanation: in.GetExplanation(),
	}
}
