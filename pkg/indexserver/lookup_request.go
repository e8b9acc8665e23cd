/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"encoding/binary"
	"errors"
	"fmt"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/routing"
)

var errNoTokenizer = errors.New("prompt_text: this server has no tokenizer, send token_ids or block_hashes")

// requestOf turns a lookup into routing's form. The error says what is malformed
// in the input that the request's precedence selects; what it does not select is
// not looked at. The result refers to the request's slices.
func requestOf(in *pb.LookupRouteRequest) (*routing.Request, error) {
	if in.GetPrefixTokenCount() < 0 {
		return nil, invalid("prefix_token_count", "%d is below 0", in.GetPrefixTokenCount())
	}
	if in.GetTopK() < 0 {
		return nil, invalid("top_k", "%d is below 0", in.GetTopK())
	}
	out := &routing.Request{
		Tenant: in.GetTenantId(), Model: in.GetModelId(), HashScheme: in.GetHashScheme(), Adapter: in.GetAdapterId(),
		TopK: int(in.GetTopK()), Explain: in.GetExplain(),
	}
	var err error
	switch {
	case len(in.GetPackedBlockHashes()) > 0 || len(in.GetBlockHashes()) > 0:
		out.ChainCounts = in.GetBlockTokenCounts()
		out.PromptTokens = int(in.GetPrefixTokenCount())
		out.Chain, err = chainOf(in)
	case len(in.GetPrefixHash()) > 0:
		// The count is what the prefix covers, not where the prompt ends: the
		// prompt may go on, so the whole prefix can be reused.
		out.PrefixHash, err = prefixHashOf(in.GetPrefixHash())
	case len(in.GetTokenIds()) > 0:
		out.Tokens, out.Salt = in.GetTokenIds(), in.GetCacheSalt()
		out.BlockKeys, err = blockKeysOf(in.GetBlockKeys())
	case in.GetPromptText() != "":
		err = errNoTokenizer
	}
	return out, err
}

func chainOf(in *pb.LookupRouteRequest) ([]uint64, error) {
	packed := in.GetPackedBlockHashes()
	if len(packed) == 0 {
		return unpackedChainOf(in.GetBlockHashes())
	}
	if len(packed)%fingerprint.WireSize != 0 {
		return nil, invalid("packed_block_hashes", "%d bytes, want a multiple of %d", len(packed), fingerprint.WireSize)
	}
	chain := make([]uint64, len(packed)/fingerprint.WireSize)
	for i := range chain {
		chain[i] = binary.BigEndian.Uint64(packed[i*fingerprint.WireSize:])
	}
	return chain, nil
}

func unpackedChainOf(hashes [][]byte) ([]uint64, error) {
	chain := make([]uint64, len(hashes))
	for i, wire := range hashes {
		hash, err := fingerprint.FromWire(wire)
		if err != nil {
			return nil, fmt.Errorf("block_hashes[%d]: %w", i, err)
		}
		chain[i] = hash
	}
	return chain, nil
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
