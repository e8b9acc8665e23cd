/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"time"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	"inferencecache.io/inference-cache/pkg/index"
)

// Reason says what an answer rests on.
type Reason string

// The reasons. Callers treat one they do not know as NoHint.
const (
	// PrefixMatch means that some replica reuses a part of the prompt.
	PrefixMatch Reason = "PREFIX_MATCH"
	// TenantHot lists replicas whose own statistics show a working cache. It is
	// given for an exact lookup that matched nothing.
	TenantHot Reason = "TENANT_HOT"
	// AffinityHint names one replica by hashing the prompt's head, so that
	// turns of one conversation meet.
	AffinityHint Reason = "AFFINITY_HINT"
	// NoHint means that there is nothing to say.
	NoHint Reason = "NO_HINT"
	// PolicyRequiresChain means that the policy takes chains only and the request
	// has none.
	PolicyRequiresChain Reason = "POLICY_REQUIRES_CHAIN"
	// Timeout means that the caller's or the policy's deadline passed first.
	Timeout Reason = "TIMEOUT"
	// UnknownTenant, UnknownModel and UnknownHashScheme name the outermost part of
	// the scope for which nobody reports.
	UnknownTenant     Reason = "UNKNOWN_TENANT"
	UnknownModel      Reason = "UNKNOWN_MODEL"
	UnknownHashScheme Reason = "UNKNOWN_HASH_SCHEME"
)

// Reasons returns every reason that a lookup can end with.
func Reasons() []Reason {
	return []Reason{
		PrefixMatch, TenantHot, AffinityHint, NoHint, PolicyRequiresChain, Timeout,
		UnknownTenant, UnknownModel, UnknownHashScheme,
	}
}

// Limits of one lookup.
const (
	// MaxTokens is the longest prompt, in token ids.
	MaxTokens = 1 << 20
	// MaxBlocks is the longest chain, in hashes.
	MaxBlocks = 1 << 20
	// MaxTextBytes is the longest prompt as text.
	MaxTextBytes = 1 << 20
)

// Request is one lookup. Of the inputs, Chain wins over PrefixHash, that over
// Tokens and that over Text.
type Request struct {
	Tenant, Model string
	// HashScheme restricts the search; empty means every scheme of the model.
	HashScheme string
	// Adapter is the LoRA adapter's name; empty is the base model.
	Adapter string

	// Chain has the prompt's block hashes from the first block on.
	Chain []uint64
	// ChainCounts has the tokens of each block of Chain; nil or of the same length.
	ChainCounts []int32
	// PrefixHash is the hash of the last block of a prefix.
	PrefixHash *uint64
	// PrefixTokens is how many tokens PrefixHash covers; 0 when unknown.
	PrefixTokens int
	// Tokens is the whole prompt.
	Tokens []uint32
	// Text is the whole prompt as text, for a tokenizer.
	Text string
	// PromptTokens is the prompt's length for Chain and PrefixHash; 0 when unknown.
	PromptTokens int
	// Salt separates equal prompts; it applies to Tokens and Text.
	Salt string
	// BlockKeys are further keys of single blocks by position; they apply to
	// Tokens and Text.
	BlockKeys map[int][]fingerprint.Key
	// Malformed says what is wrong with the input that came over the wire; it is
	// empty when nothing is, and then the input is looked at.
	Malformed string

	// TopK bounds the number of replicas in the answer; 0 returns all.
	TopK int
	// Explain fills the explanations.
	Explain bool
	// Quiet lookups do not count as use of what they find.
	Quiet bool
	// Memory is where the answer's replicas may be put; nil makes new memory.
	Memory []Replica
	// Now is when the lookup was made, by which statistics are fresh or stale.
	Now time.Time
}

// Response is the answer to a Request.
type Response struct {
	Reason Reason
	// Replicas are ordered best first.
	Replicas []Replica
	// PromptTokens is the length of the prompt where it is known.
	PromptTokens int
	// Tokens are what a tokenizer made of Text; nil for every other input.
	Tokens []uint32
	// Explanation says why, when asked for or when the input was refused.
	Explanation string
}

// Replica is one engine rank in an answer.
type Replica struct {
	Holder index.Holder
	State  index.State
	// Tokens that the engine will reuse, and the blocks they make.
	Tokens, Blocks int
	// T2Tokens and T3Tokens are those of Tokens whose nearest tier is that one.
	T2Tokens, T3Tokens int
	// Tier is the coldest tier among the blocks; T1 without a match.
	Tier index.Tier
	// Exact is false when Tokens is a bound, or rests on less than the engine's
	// own word.
	Exact bool
	// Inferred is true when Tokens counts inferred blocks.
	Inferred bool
	// Score is the milliseconds to the first token that are expected to be saved
	// against the best replica that holds nothing; below 0 when that one is faster.
	Score float64
	// Cost is what the score is made of.
	Cost Cost
	// LoadKnown is false when the engine's statistics are absent or stale. Its
	// queue is then taken to be the mean of those that are known.
	LoadKnown bool
	// HitProbability is how likely at least Tokens are reused: 1 when nothing
	// speaks against it, one half when the blocks are inferred or the stream is
	// not alive, and 0 without a match.
	HitProbability float64
	// Sequence is the holder's last applied delta.
	Sequence uint64
	// LastEvent is the time of the newest engine event, zero for none.
	LastEvent   time.Time
	Explanation string
}
