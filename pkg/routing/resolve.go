/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"context"
	"errors"
	"fmt"
	"math"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	"inferencecache.io/inference-cache/pkg/index"
)

// headTokens bounds the part of a prompt that affinity looks at: long enough to
// tell conversations under one system prompt apart, short enough that a later
// turn has the same head.
const headTokens = 512

// headBlock is the block size in which the head of a prompt is hashed when the
// index does not say in which one the model's engines hash.
const headBlock = 16

// input is what is known of the prompt, beside its chains.
type input struct {
	// tokens of the prompt, 0 when unknown; prefix is the length that is at least
	// known of.
	tokens, prefix int
	// exact lookups want the whole of what is asked for, or nothing.
	exact bool
	// hashed lookups name one block instead of a prompt.
	hashed bool
	// head of the prompt for affinity; hasHead is false when there is none.
	head    uint64
	hasHead bool
	// echo are the tokens that a tokenizer made.
	echo []uint32
}

// resolve picks the input and turns it into chains. It returns an answer when
// there is nothing to look up.
func (l *lookup) resolve() (Response, bool) {
	q := l.request
	l.in.exact = l.rules.IgnoreChains
	var why string
	switch {
	case len(q.Chain) > 0 && !l.rules.IgnoreChains:
		why = l.resolveChain()
	case q.PrefixHash != nil:
		l.resolveHash()
	case len(q.Tokens) > 0:
		why = l.resolveTokens(q.Tokens)
	case q.Text != "":
		return l.resolveText()
	case len(q.Chain) > 0:
		why = "the policy does not take chains, and the request has nothing else"
	default:
		why = "the request has no block hashes, no prefix hash and no token ids"
	}
	return l.refuse(why), why != ""
}

func (l *lookup) resolveChain() string {
	q := l.request
	if len(q.Chain) > MaxBlocks {
		return fmt.Sprintf("the chain has %d blocks, at most %d are accepted", len(q.Chain), MaxBlocks)
	}
	if len(q.ChainCounts) != 0 && len(q.ChainCounts) != len(q.Chain) {
		return fmt.Sprintf("block_token_counts has %d entries for %d block hashes", len(q.ChainCounts), len(q.Chain))
	}
	l.sums = l.sums[:0]
	total := int64(0)
	for _, n := range q.ChainCounts {
		if n <= 0 {
			return "block_token_counts has an entry below 1"
		}
		total = min(total+int64(n), math.MaxInt32)
		l.sums = append(l.sums, int32(total))
	}
	l.in.tokens, l.in.prefix = q.PromptTokens, max(q.PromptTokens, int(total))
	l.chains = append(l.chains[:0], index.Chain{Hashes: q.Chain})
	size := headBlock
	if len(q.ChainCounts) > 0 {
		size = int(q.ChainCounts[0])
	}
	l.setHead(q.Chain, size)
	return ""
}

func (l *lookup) resolveHash() {
	q := l.request
	chains, _ := l.config.Index.ChainsTo(q.Tenant, q.Model, q.HashScheme, q.Adapter, *q.PrefixHash)
	l.chains = append(l.chains[:0], chains...)
	l.in.tokens, l.in.prefix, l.in.hashed = q.PromptTokens, max(q.PromptTokens, q.PrefixTokens), true
	l.in.head, l.in.hasHead = *q.PrefixHash, true
}

// resolveTokens hashes the prompt once for every block size that is in use.
func (l *lookup) resolveTokens(tokens []uint32) string {
	if len(tokens) > MaxTokens {
		return fmt.Sprintf("the prompt has %d tokens, at most %d are accepted", len(tokens), MaxTokens)
	}
	q := l.request
	sizes, _ := l.config.Index.BlockSizes(q.Tenant, q.Model, q.HashScheme, q.Adapter)
	l.in.tokens, l.in.prefix, l.in.hashed = len(tokens), len(tokens), l.rules.IgnoreChains
	parent := fingerprint.SaltParent(q.Salt)
	l.chains, l.hashes = l.chains[:0], l.hashes[:0]
	for _, size := range sizes {
		start := len(l.hashes)
		l.hashes = appendChain(l.hashes, parent, tokens, q.BlockKeys, int(size))
		l.chains = append(l.chains, index.Chain{BlockSize: size, Hashes: l.hashes[start:len(l.hashes):len(l.hashes)]})
	}
	if len(sizes) == 1 {
		l.setHead(l.chains[0].Hashes, int(sizes[0]))
		return ""
	}
	start := len(l.hashes)
	l.hashes = appendChain(l.hashes, parent, tokens[:min(len(tokens), headTokens)], q.BlockKeys, headBlock)
	l.setHead(l.hashes[start:], headBlock)
	return ""
}

// setHead takes the head of a prompt from its chain.
func (l *lookup) setHead(chain []uint64, size int) {
	if n := min(len(chain), max(1, headTokens/size)); n > 0 {
		l.in.head, l.in.hasHead = chain[n-1], true
	}
}

// sharpenHead places a chain without counts by the block size that the index
// knows, when it is one. Matches are spread without it: asking costs more there
// than it is worth.
func (l *lookup) sharpenHead() {
	q := l.request
	if len(l.chains) != 1 || l.chains[0].BlockSize != 0 || len(q.ChainCounts) > 0 {
		return
	}
	if sizes, _ := l.config.Index.BlockSizes(q.Tenant, q.Model, q.HashScheme, q.Adapter); len(sizes) == 1 {
		l.setHead(q.Chain, int(sizes[0]))
	}
}

// resolveText has the prompt tokenised.
func (l *lookup) resolveText() (Response, bool) {
	q := l.request
	switch {
	case l.config.Tokenizer == nil:
		return l.refuse("prompt_text: this server has no tokenizer, send token_ids or block_hashes"), true
	case len(q.Text) > MaxTextBytes:
		return l.refuse(fmt.Sprintf("prompt_text has %d bytes, at most %d are accepted", len(q.Text), MaxTextBytes)), true
	}
	tokens, err := l.config.Tokenizer.Tokenize(l.ctx, q.Model, q.Text)
	switch {
	case l.ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded):
		return l.timeout(), true
	case err != nil:
		return l.refuse("prompt_text: " + err.Error()), true
	}
	if why := l.resolveTokens(tokens); why != "" {
		return l.refuse(why), true
	}
	l.in.echo = tokens
	return Response{}, false
}

// appendChain hashes a prompt with its block keys. Keys belong to blocks of the
// size that the caller's engine uses; the caller counts blocks in that size.
func appendChain(dst []uint64, parent fingerprint.Parent, tokens []uint32, keys map[int][]fingerprint.Key, size int) []uint64 {
	if len(keys) == 0 {
		return fingerprint.Chain(dst, parent, tokens, size)
	}
	for i := 0; (i+1)*size <= len(tokens); i++ {
		content := fingerprint.Content(tokens[i*size : (i+1)*size])
		hash := fingerprint.Next(parent, fingerprint.WithKeys(content, keys[i]))
		dst = append(dst, hash)
		parent = fingerprint.Parent{Hash: hash, Present: true}
	}
	return dst
}

// tooShort reports whether the policy keeps a prompt of this length from being
// looked up.
func (l *lookup) tooShort() bool {
	return l.in.prefix > 0 && l.in.prefix < l.rules.MinimumPrefixTokens
}
