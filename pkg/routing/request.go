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
	// given for a lookup by prefix hash that matched nothing.
	TenantHot Reason = "TENANT_HOT"
	// AffinityHint names one replica by hashing the prompt's head, so that
	// turns of one conversation meet.
	AffinityHint Reason = "AFFINITY_HINT"
	// NoHint means that there is nothing to say.
	NoHint Reason = "NO_HINT"
	// Timeout means that the caller's deadline passed first.
	Timeout Reason = "TIMEOUT"
	// UnknownTenant, UnknownModel and UnknownHashScheme name the outermost part of
	// the scope for which nobody reports.
	UnknownTenant     Reason = "UNKNOWN_TENANT"
	UnknownModel      Reason = "UNKNOWN_MODEL"
	UnknownHashScheme Reason = "UNKNOWN_HASH_SCHEME"
)

// Limits of one lookup.
const (
	// MaxTokens is the longest prompt, in token ids.
	MaxTokens = 1 << 20
	// MaxBlocks is the longest chain, in hashes.
	MaxBlocks = 1 << 20
)

// Request is one lookup. Of the inputs, Chain wins over PrefixHash and that over Tokens.
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
	// Tokens is the whole prompt.
	Tokens []uint32
	// PromptTokens is the prompt's length for Chain and PrefixHash; 0 when unknown.
	PromptTokens int
	// Salt separates equal prompts; it applies to Tokens.
	Salt string
	// BlockKeys are further keys of single blocks by position; they apply to Tokens.
	BlockKeys map[int][]fingerprint.Key

	// TopK bounds the number of replicas in the answer; 0 returns all.
	TopK int
	// Explain fills the explanations.
	Explain bool
}

// Response is the answer to a Request.
type Response struct {
	Reason Reason
	// Replicas are ordered best first.
	Replicas []Replica
	// PromptTokens is the length of the prompt where it is known.
	PromptTokens int
	// Explanation says why, when asked for or when the input was refused.
	Explanation string
}

// Replica is one engine rank in an answer.
type Replica struct {
	Match
	// Score is the number of prompt tokens that need no prefill.
	Score float64
	// HitProbability is 1 when the match is the engine's own word and its stream
	// is alive, one half when either is in doubt, and 0 without a match.
	HitProbability float64
	Explanation    string
}

// Index is what a lookup reads.
type Index interface {
	BlockSizes(tenant, model, scheme, adapter string) ([]uint32, index.Knowledge)
	ChainsTo(tenant, model, scheme, adapter string, hash uint64) ([]index.Chain, index.Knowledge)
	Lookup(q *index.Query, dst []index.Hit) ([]index.Hit, index.Knowledge)
	Serving(tenant, model, scheme string, dst []*index.Session) ([]*index.Session, index.Knowledge)
}

// Match is what one holder will reuse of a prompt.
type Match struct {
	Holder          index.Holder
	Backend         index.Backend
	HashScheme      string
	State           index.State
	Tokens, Blocks  int
	Tier            index.Tier
	Exact, Inferred bool
	Sequence        uint64
	LastEvent       time.Time
	Stats           *index.Stats
}

func matchOf(h *index.Hit) Match {
	s := h.Session
	return Match{
		Holder: s.Holder(), Backend: s.Backend(), HashScheme: s.HashScheme(), State: s.State(), Tokens: int(h.Tokens), Blocks: int(h.Blocks),
		Tier: h.Coldest(), Exact: h.Exact, Inferred: h.Inferred, Sequence: s.Sequence(), LastEvent: s.LastEvent(), Stats: s.Stats(),
	}
}
