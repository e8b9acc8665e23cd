/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/vmihailenco/msgpack/v5"
)

// groupChains is the number of chains in a group of an engine.
const groupChains = 64

// ghosts is how many evicted blocks the mirror remembers.
const ghosts = groupChains * longChain / 2

// vocabulary bounds the token ids.
const vocabulary = 150_000

// engine is what an engine publishes.
type engine struct{ groups []messages }

// messages are those about a group of chains: stores of step blocks each, the
// chains in turn as in a batch of conversations, and removals chain by chain from
// the end, as an engine evicts.
type messages struct{ stores, removals [][]byte }

// stored is a BlockStored as vLLM 0.32 sends it.
type stored struct {
	Type        string     `msgpack:"type"`
	BlockHashes []uint64   `msgpack:"block_hashes"`
	Parent      *uint64    `msgpack:"parent_block_hash"`
	TokenIDs    []uint32   `msgpack:"token_ids"`
	BlockSize   int        `msgpack:"block_size"`
	LoRAID      *int       `msgpack:"lora_id"`
	Medium      string     `msgpack:"medium"`
	LoRAName    *string    `msgpack:"lora_name"`
	ExtraKeys   [][]string `msgpack:"extra_keys"`
	Group       int        `msgpack:"group_idx"`
	SpecKind    string     `msgpack:"kv_cache_spec_kind"`
}

// removed is a BlockRemoved of the same release.
type removed struct {
	Type        string   `msgpack:"type"`
	BlockHashes []uint64 `msgpack:"block_hashes"`
	Medium      string   `msgpack:"medium"`
	Group       int      `msgpack:"group_idx"`
}

// recordEngine writes the messages of an engine.
func recordEngine(groups int) (*engine, error) {
	e := &engine{groups: make([]messages, groups)}
	for g := range e.groups {
		m := &e.groups[g]
		for from := 0; from < longChain; from += step {
			for c := range groupChains {
				payload, err := pack(storedEvent(chain(g*groupChains+c), from))
				if err != nil {
					return nil, err
				}
				m.stores = append(m.stores, payload)
			}
		}
		for c := range groupChains {
			for from := longChain - step; from >= 0; from -= step {
				hashes := chain(g*groupChains+c).append(nil, from, step)
				slices.Reverse(hashes)
				payload, err := pack(removed{Type: "BlockRemoved", BlockHashes: hashes, Medium: "GPU"})
				if err != nil {
					return nil, err
				}
				m.removals = append(m.removals, payload)
			}
		}
	}
	return e, nil
}

// storedEvent announces step blocks of a chain. The tokens of a block are made from
// its hash.
func storedEvent(c chain, from int) stored {
	event := stored{
		Type: "BlockStored", BlockHashes: c.append(nil, from, step), BlockSize: blockSize, Medium: "GPU",
		ExtraKeys: make([][]string, step), SpecKind: "full_attention",
	}
	if from > 0 {
		parent := c.at(from - 1)
		event.Parent = &parent
	}
	for _, hash := range event.BlockHashes {
		for i := range uint64(blockSize) {
			event.TokenIDs = append(event.TokenIDs, uint32((hash>>(2*i)^hash)%vocabulary))
		}
	}
	return event
}

// pack encodes a batch of one event.
func pack(event any) ([]byte, error) {
	var out bytes.Buffer
	encoder := msgpack.NewEncoder(&out)
	encoder.UseCompactInts(true)
	if err := encoder.Encode([]any{1.5, []any{event}, 0}); err != nil {
		return nil, fmt.Errorf("encode a batch: %w", err)
	}
	return out.Bytes(), nil
}
