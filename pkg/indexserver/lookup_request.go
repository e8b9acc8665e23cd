/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/routing"
)

// question is a lookup in routing's form together with the memory of its chain,
// which later lookups use again.
type question struct {
	routing.Request

	words []uint64
	// answer is the memory of the replicas.
	answer []routing.Replica
}

// keptWords and keptReplicas bound the memory that is kept for later lookups.
const (
	keptWords    = 8192
	keptReplicas = 256
)

// reset forgets the lookup and takes back the memory of its answer.
func (q *question) reset(answer []routing.Replica) {
	clear(answer)
	q.Request = routing.Request{}
	if q.answer = answer[:0]; cap(answer) > keptReplicas {
		q.answer = nil
	}
	if cap(q.words) > keptWords {
		q.words = nil
	}
}

// read turns a lookup into routing's form. What is malformed in the input that
// the request's precedence selects is said in the result; what it does not select
// is not looked at. The result refers to the request's slices.
func (q *question) read(in *pb.LookupRouteRequest, ignoreChains bool) {
	q.Request = routing.Request{
		Tenant: in.GetTenantId(), Model: in.GetModelId(), HashScheme: in.GetHashScheme(), Adapter: in.GetAdapterId(),
		TopK: int(in.GetTopK()), Explain: in.GetExplain(), Memory: q.answer,
	}
	if err := q.readInput(in, ignoreChains); err != nil {
		q.Malformed = err.Error()
	}
}

func (q *question) readInput(in *pb.LookupRouteRequest, ignoreChains bool) error {
	if len(in.GetTenantId()) > maxWordBytes {
		return invalid("tenant_id", "%d bytes, at most %d are taken", len(in.GetTenantId()), maxWordBytes)
	}
	if in.GetPrefixTokenCount() < 0 {
		return invalid("prefix_token_count", "%d is below 0", in.GetPrefixTokenCount())
	}
	if in.GetTopK() < 0 {
		return invalid("top_k", "%d is below 0", in.GetTopK())
	}
	var err error
	chained := len(in.GetPackedBlockHashes()) > 0 || len(in.GetBlockHashes()) > 0
	switch {
	case chained && !ignoreChains:
		q.ChainCounts = in.GetBlockTokenCounts()
		q.PromptTokens = int(in.GetPrefixTokenCount())
		err = q.readChain(in)
	case len(in.GetPrefixHash()) > 0:
		// The count is what the prefix covers, not where the prompt ends: the
		// prompt may go on, so the whole prefix can be reused.
		q.PrefixTokens = int(in.GetPrefixTokenCount())
		q.PrefixHash, err = prefixHashOf(in.GetPrefixHash())
	case len(in.GetTokenIds()) > 0:
		q.Tokens, q.Salt = in.GetTokenIds(), in.GetCacheSalt()
		q.BlockKeys, err = blockKeysOf(in.GetBlockKeys())
	case in.GetPromptText() != "":
		q.Text, q.Salt = in.GetPromptText(), in.GetCacheSalt()
		q.BlockKeys, err = blockKeysOf(in.GetBlockKeys())
	case chained:
		err = errChainIgnored
	}
	return err
}

// errChainIgnored is what a lookup without any input but a chain comes to where
// the policy takes none.
var errChainIgnored = errors.New("the policy does not take chains, and the request has nothing else")

func (q *question) readChain(in *pb.LookupRouteRequest) error {
	q.words = q.words[:0]
	packed := in.GetPackedBlockHashes()
	if len(packed)%fingerprint.WireSize != 0 {
		return invalid("packed_block_hashes", "%d bytes, want a multiple of %d", len(packed), fingerprint.WireSize)
	}
	if len(packed) == 0 {
		return q.readHashes(in.GetBlockHashes())
	}
	words := slices.Grow(q.words, len(packed)/fingerprint.WireSize)[:len(packed)/fingerprint.WireSize]
	for i := range words {
		words[i] = binary.BigEndian.Uint64(packed[i*fingerprint.WireSize:])
	}
	q.words, q.Chain = words, words
	return nil
}

func (q *question) readHashes(hashes [][]byte) error {
	q.words = slices.Grow(q.words, len(hashes))
	for i, wire := range hashes {
		hash, err := fingerprint.FromWire(wire)
		if err != nil {
			return fmt.Errorf("block_hashes[%d]: %w", i, err)
		}
		q.words = append(q.words, hash)
	}
	q.Chain = q.words
	return nil
}

func prefixHashOf(wire []byte) (*uint64, error) {
	hash, err := fingerprint.FromWire(wire)
	if err != nil {
		return nil, fmt.Errorf("prefix_hash: %w", err)
	}
	return &hash, nil
}

func blockKeysOf(in []*pb.BlockKeys) (map[int][]fingerprint.Key, error) {
	if len(in) == 0 {
		return nil, nil
	}
	out := make(map[int][]fingerprint.Key, len(in))
	for i, block := range in {
		position := int(block.GetBlock())
		if _, twice := out[position]; twice {
			return nil, invalid(fmt.Sprintf("block_keys[%d].block", i), "block %d is named twice", position)
		}
		keys := make([]fingerprint.Key, 0, len(block.GetKeys()))
		for j, k := range block.GetKeys() {
			key, ok := keyOf(k)
			if !ok {
				return nil, invalid(fmt.Sprintf("block_keys[%d].keys[%d]", i, j), "none of the known kinds is set")
			}
			keys = append(keys, key)
		}
		out[position] = keys
	}
	return out, nil
}

func keyOf(k *pb.BlockKey) (fingerprint.Key, bool) {
	switch key := k.GetKey().(type) {
	case *pb.BlockKey_Text:
		return fingerprint.TextKey(key.Text), true
	case *pb.BlockKey_Data:
		return fingerprint.BytesKey(key.Data), true
	case *pb.BlockKey_Placed:
		return fingerprint.OffsetKey(key.Placed.GetIdentifier(), key.Placed.GetOffset()), true
	}
	return fingerprint.Key{}, false
}
