/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// MaxTokens is the longest prompt that can be looked up, in token ids and in
// blocks.
const MaxTokens = 1 << 20

// Query asks for one prompt. The prompt is the first of Chain, TokenIDs and Text
// that is set. A lookup keeps nothing of a query.
type Query struct {
	// Tenant is whose cache is asked, by default a namespace.
	Tenant string
	// Model is the name under which the engines' sidecars report it.
	Model string
	// HashScheme is "vllm" or "sglang"; empty searches both.
	HashScheme string
	// Adapter is the name of the LoRA adapter; empty is the base model.
	Adapter string

	// Chain has the chained hashes of the prompt's blocks from the first on, as
	// package fingerprint makes them.
	Chain []uint64
	// PromptTokens is the length of the prompt of Chain, in tokens; 0 when it is
	// unknown. With it the answer is exact for a prompt that ends with a block,
	// of which an engine always computes the last token anew.
	PromptTokens int
	// TokenIDs is the whole prompt, at most MaxTokens ids.
	TokenIDs []uint32
	// Text is the prompt for an index that has a tokenizer for the model.
	Text string

	// BlockSize is the number of tokens in a block of the engines. For TokenIDs,
	// 0 lets the index hash them with every block size that it has learned; more
	// hashes them here, unless they fill no block. For Chain it is optional. A
	// tenant whose policy ignores chains wants the ids.
	BlockSize int
	// Salt separates equal prompts. It applies to TokenIDs and Text; a Chain has
	// it inside.
	Salt string
	// BlockKeys are further keys of single blocks by position, as for images. They
	// apply to TokenIDs.
	BlockKeys map[int][]fingerprint.Key

	// TopK bounds the number of replicas in the answer; 0 returns all of them.
	TopK int
	// Explain asks for the reasoning.
	Explain bool
}

// errNoPrompt refuses a query without any input.
var errNoPrompt = errors.New("the query has no chain, no token ids and no text")

// request turns a query into the contract's form. The error says what no index
// could answer.
func (q *Query) request() (*pb.LookupRouteRequest, error) {
	if err := q.validate(); err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	out := &pb.LookupRouteRequest{
		TenantId: q.Tenant, ModelId: q.Model, HashScheme: q.HashScheme, AdapterId: q.Adapter,
		TopK: int32(q.TopK), Explain: q.Explain,
	}
	switch {
	case len(q.Chain) > 0:
		out.PackedBlockHashes = pack(q.Chain)
		out.PrefixTokenCount = int32(q.PromptTokens)
		out.BlockTokenCounts = counts(len(q.Chain), q.BlockSize)
	// A prompt that fills no block has no hash, but the index may still know where
	// its conversation belongs.
	case q.BlockSize > 0 && len(q.TokenIDs) >= q.BlockSize:
		out.PackedBlockHashes = q.hash()
		out.PrefixTokenCount = int32(len(q.TokenIDs))
		out.BlockTokenCounts = counts(len(q.TokenIDs)/q.BlockSize, q.BlockSize)
	case len(q.TokenIDs) > 0:
		// Copied, because a call that lost against another one may still be on
		// its way out when the lookup has returned.
		out.TokenIds, out.CacheSalt = slices.Clone(q.TokenIDs), q.Salt
		out.BlockKeys = blockKeys(q.BlockKeys)
	default:
		out.PromptText, out.CacheSalt = q.Text, q.Salt
	}
	return out, nil
}

// validate says what is wrong with a query.
func (q *Query) validate() error {
	switch {
	case len(q.Chain) == 0 && len(q.TokenIDs) == 0 && q.Text == "":
		return errNoPrompt
	case len(q.Chain) > MaxTokens || len(q.TokenIDs) > MaxTokens:
		return fmt.Errorf("the prompt is longer than %d", MaxTokens)
	case q.PromptTokens < 0 || q.PromptTokens > math.MaxInt32:
		return fmt.Errorf("PromptTokens is %d", q.PromptTokens)
	case q.BlockSize < 0 || q.BlockSize > MaxTokens:
		return fmt.Errorf("BlockSize is %d", q.BlockSize)
	case q.TopK < 0 || q.TopK > math.MaxInt32:
		return fmt.Errorf("TopK is %d", q.TopK)
	}
	// A message with such a string cannot be written, which would cost a shared
	// stream.
	for _, text := range []string{q.Tenant, q.Model, q.HashScheme, q.Adapter, q.Salt, q.Text} {
		if !utf8.ValidString(text) {
			return errors.New("a text is not UTF-8")
		}
	}
	for position, keys := range q.BlockKeys {
		if position < 0 || position > MaxTokens {
			return fmt.Errorf("BlockKeys has a block %d", position)
		}
		if slices.ContainsFunc(keys, func(k fingerprint.Key) bool { return !utf8.ValidString(k.Text) }) {
			return fmt.Errorf("BlockKeys[%d] has a text that is not UTF-8", position)
		}
	}
	return nil
}

// hash returns the packed chain of the token ids.
func (q *Query) hash() []byte {
	packed := make([]byte, 0, fingerprint.WireSize*(len(q.TokenIDs)/q.BlockSize))
	parent := fingerprint.SaltParent(q.Salt)
	for block, rest := 0, q.TokenIDs; len(rest) >= q.BlockSize; block, rest = block+1, rest[q.BlockSize:] {
		content := fingerprint.Content(rest[:q.BlockSize])
		if len(q.BlockKeys) > 0 {
			content = fingerprint.WithKeys(content, q.BlockKeys[block])
		}
		hash := fingerprint.Next(parent, content)
		packed = fingerprint.AppendWire(packed, hash)
		parent = fingerprint.Parent{Hash: hash, Present: true}
	}
	return packed
}

// pack returns the wire form of a chain.
func pack(chain []uint64) []byte {
	packed := make([]byte, 0, fingerprint.WireSize*len(chain))
	for _, hash := range chain {
		packed = fingerprint.AppendWire(packed, hash)
	}
	return packed
}

// counts returns the size of each block. The index derives from it how many blocks
// the head of a prompt has, by which conversations stay together.
func counts(blocks, size int) []int32 {
	if size == 0 {
		return nil
	}
	return slices.Repeat([]int32{int32(size)}, blocks)
}

// blockKeys turns keys into the contract's form, in the order of the blocks.
func blockKeys(keys map[int][]fingerprint.Key) []*pb.BlockKeys {
	var out []*pb.BlockKeys
	for position, of := range keys {
		block := &pb.BlockKeys{Block: uint32(position)}
		for _, key := range of {
			block.Keys = append(block.Keys, blockKey(key))
		}
		out = append(out, block)
	}
	slices.SortFunc(out, func(a, b *pb.BlockKeys) int { return int(a.GetBlock()) - int(b.GetBlock()) })
	return out
}

// blockKey turns one key into the contract's form.
func blockKey(key fingerprint.Key) *pb.BlockKey {
	switch key.Kind {
	case fingerprint.KeyOffset:
		return &pb.BlockKey{Key: &pb.BlockKey_Placed{Placed: &pb.PlacedKey{Identifier: key.Text, Offset: key.Offset}}}
	case fingerprint.KeyText:
		return &pb.BlockKey{Key: &pb.BlockKey_Text{Text: key.Text}}
	default:
		return &pb.BlockKey{Key: &pb.BlockKey_Data{Data: bytes.Clone(key.Bytes)}}
	}
}
