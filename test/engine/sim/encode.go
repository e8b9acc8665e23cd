/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"
)

// codec writes batches in one engine's dialect.
type codec struct {
	dialect

	blockSize int
	rank      int
	digests   bool
	// adapterIDs numbers adapters in the order of their first use.
	adapterIDs map[string]int
}

// field is one value of an event, in positional order. A nil value is a null.
type field struct {
	key   string
	value any
	// always keeps a null in the tagged form.
	always bool
}

// object is a map that keeps the order of its fields.
type object []field

// EncodeMsgpack implements [msgpack.CustomEncoder].
func (o object) EncodeMsgpack(enc *msgpack.Encoder) error {
	if err := enc.EncodeMapLen(len(o)); err != nil {
		return err
	}
	for _, f := range o {
		if err := enc.EncodeString(f.key); err != nil {
			return err
		}
		if err := enc.Encode(f.value); err != nil {
			return err
		}
	}
	return nil
}

// encode writes one batch.
func (c *codec) encode(timestamp float64, events []event) ([]byte, error) {
	var buf bytes.Buffer
	enc := msgpack.NewEncoder(&buf)
	enc.UseCompactInts(true)
	list := make([]any, 0, len(events))
	for _, e := range events {
		list = append(list, c.event(e))
	}
	if err := enc.Encode([]any{timestamp, list, c.rank}); err != nil {
		return nil, fmt.Errorf("encode batch: %w", err)
	}
	return buf.Bytes(), nil
}

func (c *codec) event(e event) any {
	switch e.kind {
	case stored:
		return c.form("BlockStored", c.stored(e), c.storedItems, e)
	case removed:
		fields := []field{
			{key: "block_hashes", value: c.hashes(e.hashes)},
			{key: "medium", value: e.medium},
			{key: "group_idx", value: c.group(e.group)},
		}
		return c.form("BlockRemoved", fields, c.removedItems, e)
	default:
		return c.form("AllBlocksCleared", nil, 1, e)
	}
}

func (c *codec) stored(e event) []field {
	fields := []field{
		{key: "block_hashes", value: c.hashes(e.hashes)},
		{key: "parent_block_hash", value: c.parent(e.parent), always: true},
		{key: "token_ids", value: e.tokens},
		{key: "block_size", value: c.blockSize},
		{key: "lora_id", value: c.adapterID(e.adapter), always: true},
		{key: "medium", value: e.medium},
	}
	if c.engine == SGLang {
		if c.adapters {
			fields = append(fields, field{key: "lora_name", value: text(e.adapter)})
		}
		return append(fields,
			field{key: "cache_salt", value: text(e.salt)},
			field{key: "session_id", value: text(e.session)},
		)
	}
	return append(fields,
		field{key: "lora_name", value: text(e.adapter), always: true},
		field{key: "extra_keys", value: c.extraKeys(e)},
		field{key: "group_idx", value: c.group(e.group)},
		field{key: "kv_cache_spec_kind", value: specKind(e.window)},
		field{key: "kv_cache_spec_sliding_window", value: positive(e.window)},
	)
}

// form puts fields into an array or a map.
func (c *codec) form(tag string, fields []field, items int, e event) any {
	if c.maps {
		out := object{{key: "type", value: tag}}
		for _, f := range fields {
			if f.value != nil || f.always {
				out = append(out, f)
			}
		}
		return out
	}
	out := []any{tag}
	for _, f := range fields[:items-1] {
		out = append(out, f.value)
	}
	for !c.nulls && len(out) > 1 && out[len(out)-1] == nil {
		out = out[:len(out)-1]
	}
	if c.saltItem && e.kind == stored && e.salt != "" {
		out = append(out, map[string]any{"cache_salt": e.salt})
	}
	return out
}

// hashes never returns nil: an empty list is a statement.
func (c *codec) hashes(digests []digest) []any {
	out := make([]any, 0, len(digests))
	for _, d := range digests {
		out = append(out, c.hash(d))
	}
	return out
}

// hash cuts a digest as the engine does: vLLM keeps its end, SGLang its start.
func (c *codec) hash(d digest) any {
	switch {
	case c.digests:
		return d[:]
	case c.engine == SGLang:
		return int64(binary.BigEndian.Uint64(d[:8]))
	case c.signed:
		return int64(binary.BigEndian.Uint64(d[len(d)-8:]))
	default:
		return binary.BigEndian.Uint64(d[len(d)-8:])
	}
}

func (c *codec) parent(d *digest) any {
	if d == nil {
		return nil
	}
	return c.hash(*d)
}

// adapterID is vLLM's number of an adapter; SGLang never sends one.
func (c *codec) adapterID(adapter string) any {
	if adapter == "" || c.engine == SGLang {
		return nil
	}
	if c.adapterIDs[adapter] == 0 {
		c.adapterIDs[adapter] = len(c.adapterIDs) + 1
	}
	return c.adapterIDs[adapter]
}

func (c *codec) group(group int) any {
	if c.engine == SGLang {
		return nil
	}
	return group
}

// extraKeys lists per announced block what else decides its content.
func (c *codec) extraKeys(e event) any {
	if len(e.hashes) == 0 {
		return nil
	}
	out := make([]any, len(e.hashes))
	for i := range out {
		var keys []any
		if e.adapter != "" {
			keys = append(keys, e.adapter)
		}
		if i == 0 && e.first && e.salt != "" {
			keys = append(keys, e.salt)
		}
		if keys != nil {
			out[i] = keys
		}
	}
	return out
}

func specKind(window int) string {
	if window > 0 {
		return "sliding_window"
	}
	return "full_attention"
}

// text and positive turn an empty value into a null.
func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func positive(n int) any {
	if n == 0 {
		return nil
	}
	return n
}
