/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kvevents

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"testing"
)

// The oracle builds the expected batch from what a general msgpack library made
// of the same payload (the .decoded.jsonl files). It knows the layouts by itself,
// from the engines' side: per event the names of the positions.
var (
	oracleStored  = []string{"type", "block_hashes", "parent_block_hash", "token_ids", "block_size", "lora_id", "medium", "lora_name", "extra_keys", "group_idx", "kv_cache_spec_kind", "kv_cache_spec_sliding_window"}
	oracleRemoved = []string{"type", "block_hashes", "medium", "group_idx"}
)

// oracleBatch converts a decoded payload. It fails the test on anything that the
// recordings are not known to hold.
func oracleBatch(t *testing.T, raw json.RawMessage) *Batch {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var items []any
	if err := decoder.Decode(&items); err != nil {
		t.Fatal(err)
	}
	batch := &Batch{Timestamp: oracleFloat(t, items[0])}
	for _, event := range items[1].([]any) {
		batch.Events = append(batch.Events, oracleEvent(t, event))
	}
	if len(items) > 2 && items[2] != nil {
		batch.Rank, batch.HasRank = int(oracleInt(t, items[2])), true
	}
	return batch
}

// oracleFields gives an event of either encoding names for its fields.
func oracleFields(t *testing.T, event any) map[string]any {
	t.Helper()
	fields, isMap := event.(map[string]any)
	if isMap {
		return fields
	}
	items := event.([]any)
	names := oracleStored
	if items[0] == "BlockRemoved" {
		names = oracleRemoved
	}
	fields = map[string]any{}
	for i, item := range items {
		if named, ok := item.(map[string]any); ok {
			maps.Copy(fields, named)
			continue
		}
		fields[names[i]] = item
	}
	return fields
}

func oracleEvent(t *testing.T, raw any) Event {
	t.Helper()
	var event Event
	if items, ok := raw.([]any); ok && items[0] != "AllBlocksCleared" {
		event.Items = len(items)
	}
	for name, value := range oracleFields(t, raw) {
		if value == nil {
			continue
		}
		switch name {
		case "type":
			event.Kind = map[any]Kind{"BlockStored": BlockStored, "BlockRemoved": BlockRemoved, "AllBlocksCleared": AllBlocksCleared}[value]
		case "block_hashes":
			for _, h := range value.([]any) {
				event.Hashes = append(event.Hashes, oracleHash(t, h))
			}
		case "parent_block_hash":
			event.Parent, event.HasParent = oracleHash(t, value), true
		case "token_ids":
			for _, token := range value.([]any) {
				event.Tokens = append(event.Tokens, uint32(oracleInt(t, token)))
			}
		case "block_size":
			event.BlockSize = int(oracleInt(t, value))
		case "lora_id":
			event.LoRAID, event.HasLoRAID = oracleInt(t, value), true
		case "extra_keys":
			event.ExtraKeys = oracleExtraKeys(t, value)
		case "group_idx":
			event.Group, event.HasGroup = int(oracleInt(t, value)), true
		case "kv_cache_spec_sliding_window":
			event.SlidingWindow = int(oracleInt(t, value))
		default:
			*oracleText(t, &event, name) = value.(string)
		}
	}
	return event
}

// oracleText returns where the text field of a name belongs.
func oracleText(t *testing.T, event *Event, name string) *string {
	t.Helper()
	target := map[string]*string{
		"medium": &event.Medium, "lora_name": &event.LoRAName, "cache_salt": &event.CacheSalt,
		"session_id": &event.SessionID, "kv_cache_spec_kind": &event.SpecKind,
		"locality": &event.Locality, "ownership": &event.Ownership,
	}[name]
	if target == nil {
		t.Fatalf("the recordings hold a field %q that this test does not know", name)
	}
	return target
}

func oracleExtraKeys(t *testing.T, value any) [][]ExtraKey {
	t.Helper()
	var blocks [][]ExtraKey
	for _, block := range value.([]any) {
		var keys []ExtraKey
		list, _ := block.([]any)
		for _, key := range list {
			keys = append(keys, ExtraKey{Kind: ExtraText, Text: key.(string)})
		}
		blocks = append(blocks, keys)
	}
	return blocks
}

func oracleHash(t *testing.T, value any) Hash {
	t.Helper()
	switch v := value.(type) {
	case map[string]any:
		digest, err := hex.DecodeString(v["hex"].(string))
		if err != nil {
			t.Fatal(err)
		}
		return BytesHash(digest)
	case json.Number:
		if bits, err := strconv.ParseUint(v.String(), 10, 64); err == nil {
			return IntHash(bits)
		}
		return IntHash(uint64(oracleInt(t, v)))
	default:
		t.Fatal(fmt.Errorf("hash %v of type %T", value, value))
		return Hash{}
	}
}

func oracleInt(t *testing.T, value any) int64 {
	t.Helper()
	n, err := value.(json.Number).Int64()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func oracleFloat(t *testing.T, value any) float64 {
	t.Helper()
	f, err := value.(json.Number).Float64()
	if err != nil {
		t.Fatal(err)
	}
	return f
}
