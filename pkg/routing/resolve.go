/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"fmt"
	"slices"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	"inferencecache.io/inference-cache/pkg/index"
)

// headTokens bounds the part of a prompt that affinity looks at: long enough to
// tell conversations under one system prompt apart, short enough that a later
// turn has the same head.
const headTokens = 512

// headBlock is the block size in which the head of a tokenised prompt is hashed.
// It does not depend on the engines, so that affinity does not move with them.
const headBlock = 16

// resolved is a request's input as chains.
type resolved struct {
	chains []index.Chain
	known  index.Knowledge
	// tokens of the prompt, 0 when unknown.
	tokens int
	// head of the prompt for affinity; hasHead is false when there is none.
	head    uint64
	hasHead bool
	// refusal says why the input cannot be looked up.
	refusal string
}

func refuse(format string, args ...any) resolved {
	return resolved{refusal: fmt.Sprintf(format, args...)}
}

// resolve picks the input and turns it into chains.
func resolve(x Index, r *Request) resolved {
	switch {
	case len(r.Chain) > MaxBlocks:
		return refuse("the chain has %d blocks, at most %d are accepted", len(r.Chain), MaxBlocks)
	case len(r.Chain) > 0:
		return resolveChain(x, r)
	case r.PrefixHash != nil:
		return resolveHash(x, r)
	case len(r.Tokens) > MaxTokens:
		return refuse("the prompt has %d tokens, at most %d are accepted", len(r.Tokens), MaxTokens)
	case len(r.Tokens) > 0:
		return resolveTokens(x, r)
	}
	return refuse("the request has no block hashes, no prefix hash and no token ids")
}

func resolveChain(x Index, r *Request) resolved {
	if len(r.ChainCounts) != 0 && len(r.ChainCounts) != len(r.Chain) {
		return refuse("block_token_counts has %d entries for %d block hashes", len(r.ChainCounts), len(r.Chain))
	}
	if slices.ContainsFunc(r.ChainCounts, func(n int32) bool { return n <= 0 }) {
		return refuse("block_token_counts has an entry below 1")
	}
	_, known := x.BlockSizes(r.Tenant, r.Model, r.HashScheme, r.Adapter)
	size := headBlock
	if len(r.ChainCounts) > 0 {
		size = int(r.ChainCounts[0])
	}
	return resolved{
		chains: []index.Chain{{Hashes: r.Chain}}, known: known, tokens: r.PromptTokens,
		head: r.Chain[min(len(r.Chain), max(1, headTokens/size))-1], hasHead: true,
	}
}

func resolveHash(x Index, r *Request) resolved {
	chains, known := x.ChainsTo(r.Tenant, r.Model, r.HashScheme, r.Adapter, *r.PrefixHash)
	return resolved{chains: chains, known: known, tokens: r.PromptTokens, head: *r.PrefixHash, hasHead: true}
}

// resolveTokens hashes the prompt once for every block size that is in use.
func resolveTokens(x Index, r *Request) resolved {
	sizes, known := x.BlockSizes(r.Tenant, r.Model, r.HashScheme, r.Adapter)
	out := resolved{known: known, tokens: len(r.Tokens)}
	parent := fingerprint.SaltParent(r.Salt)
	for _, size := range sizes {
		out.chains = append(out.chains, index.Chain{BlockSize: size, Hashes: chain(parent, r, int(size))})
	}
	head := fingerprint.Chain(nil, parent, r.Tokens[:min(len(r.Tokens), headTokens)], headBlock)
	if len(head) > 0 {
		out.head, out.hasHead = head[len(head)-1], true
	}
	return out
}

// chain hashes a prompt with its block keys. Keys belong to blocks of the size
// that the caller's engine uses; the caller counts blocks in that size.
func chain(parent fingerprint.Parent, r *Request, size int) []uint64 {
	if len(r.BlockKeys) == 0 {
		return fingerprint.Chain(make([]uint64, 0, len(r.Tokens)/size), parent, r.Tokens, size)
	}
	hashes := make([]uint64, 0, len(r.Tokens)/size)
	for i := 0; (i+1)*size <= len(r.Tokens); i++ {
		content := fingerprint.Content(r.Tokens[i*size : (i+1)*size])
		hash := fingerprint.Next(parent, fingerprint.WithKeys(content, r.BlockKeys[i]))
		hashes = append(hashes, hash)
		parent = fingerprint.Parent{Hash: hash, Present: true}
	}
	return hashes
}
