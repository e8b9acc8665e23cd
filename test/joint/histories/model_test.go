/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package histories

import (
	"math/rand/v2"
	"slices"

	"github.com/vmihailenco/msgpack/v5"

	"inferencecache.io/inference-cache/pkg/subscriber/mirror"
)

// shape is a kind of engine.
type shape struct {
	engine mirror.Engine
	layout []groupShape
	// host: the engine has a second tier and announces it.
	host bool
	// loadedOnce: the engine never loads an adapter again, and the subscriber knows.
	loadedOnce bool
}

// shapes are the engines that histories mix.
func shapes() []shape {
	full := groupShape{kind: "full_attention"}
	return []shape{
		{engine: mirror.VLLM, layout: []groupShape{{}}},
		{engine: mirror.VLLM, layout: []groupShape{full}, host: true},
		{engine: mirror.VLLM, layout: []groupShape{{"sliding_window", 6}, full}},
		{engine: mirror.VLLM, layout: []groupShape{full, {"sliding_window", 9}}, host: true},
		{engine: mirror.VLLM, layout: []groupShape{full, {kind: "mamba"}}},
		{engine: mirror.SGLang, layout: []groupShape{{}}},
		{engine: mirror.SGLang, layout: []groupShape{{}}, host: true, loadedOnce: true},
		{engine: mirror.SGLang, layout: []groupShape{{}}, host: true},
		{engine: mirror.VLLM, layout: []groupShape{{"sliding_window", 9}}},
	}
}

// event is an event in the tagged form.
type event map[string]any

// model is an engine process: its cache, and its names for blocks.
type model struct {
	shape
	cache
	rng    *rand.Rand
	hashes map[*content]uint64
}

func newModel(s shape, rng *rand.Rand) *model {
	m := &model{shape: s, rng: rng, hashes: map[*content]uint64{}, cache: cache{groups: s.layout}}
	m.cache.clear()
	return m
}

// hash is the engine's name of a block. SGLang's are the same in every process.
func (m *model) hash(c *content) uint64 {
	h, ok := m.hashes[c]
	if !ok {
		h = m.rng.Uint64()
		m.hashes[c] = h
	}
	return h
}

func (m *model) hashesOf(blocks []*content) []uint64 {
	hashes := make([]uint64, len(blocks))
	for i, c := range blocks {
		hashes[i] = m.hash(c)
	}
	return hashes
}

// compute runs a prompt and returns the events of it.
func (m *model) compute(path []*content) []event {
	reused := m.blocks(path, len(path))
	if m.engine == mirror.SGLang {
		return m.storeMissing(path)
	}
	if m.rng.IntN(4) == 0 {
		// Another request computed the same at the same time: two copies.
		reused = m.rng.IntN(reused + 1)
	}
	if reused == len(path) {
		return nil
	}
	var events []event
	for i, g := range m.groups {
		first := max(reused, len(path)-g.need(len(path)))
		if g.kind == "sliding_window" && first > reused && m.rng.IntN(2) == 0 {
			first-- // a block more than needed
		}
		events = append(events, m.stored(i, path[reused:], path[first:]))
		for _, c := range path[first:] {
			m.add(place{i, device, c})
		}
	}
	return events
}

// storeMissing stores the blocks of a path that are not on the device, as an
// engine does that keeps one copy of each.
func (m *model) storeMissing(path []*content) []event {
	var events []event
	for i := 0; i < len(path); {
		missing := func(c *content) bool { return m.copies[place{0, device, c}] == 0 }
		if !missing(path[i]) {
			i++
			continue
		}
		end := i
		for end < len(path) && missing(path[end]) {
			m.add(place{0, device, path[end]})
			end++
		}
		events = append(events, m.stored(0, path[i:end], path[i:end]))
		i = end
	}
	return events
}

// stored is the announcement of blocks of which some are listed.
func (m *model) stored(group int, blocks, listed []*content) event {
	first := blocks[0]
	e := event{
		"type": "BlockStored", "block_hashes": m.hashesOf(listed), "parent_block_hash": nil,
		"token_ids": tokensOf(blocks), "block_size": blockSize, "lora_id": nil, "medium": "GPU",
	}
	if first.parent != nil {
		e["parent_block_hash"] = m.hash(first.parent)
	}
	if first.adapter != "" {
		e["lora_name"] = first.adapter
	}
	if m.engine == mirror.SGLang {
		if first.salt != "" {
			e["cache_salt"] = first.salt
		}
		return e
	}
	if first.adapter+first.salt != "" {
		e["extra_keys"] = extraKeys(listed)
	}
	if g := m.groups[group]; g.kind != "" {
		e["group_idx"], e["kv_cache_spec_kind"] = group, g.kind
		if g.window > 0 {
			e["kv_cache_spec_sliding_window"] = g.window
		}
	}
	return e
}

// extraKeys has the adapter on every block and the salt on the first of a chain.
func extraKeys(blocks []*content) [][]string {
	keys := make([][]string, len(blocks))
	for i, c := range blocks {
		if c.adapter != "" {
			keys[i] = append(keys[i], c.adapter)
		}
		if c.salt != "" && c.depth == 0 {
			keys[i] = append(keys[i], c.salt)
		}
	}
	return keys
}

func tokensOf(blocks []*content) []uint32 {
	tokens := []uint32{}
	for _, c := range blocks {
		tokens = append(tokens, c.tokens...)
	}
	return tokens
}

// evict removes one copy of some block and says how many are left, or not.
func (m *model) evict() []event {
	if len(m.places) == 0 {
		return nil
	}
	p := m.places[m.rng.IntN(len(m.places))]
	m.remove(p)
	e := event{"type": "BlockRemoved", "block_hashes": []uint64{m.hash(p.content)}, "medium": m.medium(p.tier)}
	if p.tier == device && m.groups[p.group].kind != "" {
		e["group_idx"] = p.group
	}
	if m.rng.IntN(3) == 0 {
		e["remaining_copy_counts"] = []int{m.copies[p]}
	}
	return []event{e}
}

// offload puts a block of the device into host memory. vLLM's connector says no
// tokens and no group; SGLang says everything.
func (m *model) offload() []event {
	group := m.fullGroup()
	if !m.host {
		return nil
	}
	candidates := slices.DeleteFunc(slices.Clone(m.places), func(p place) bool {
		return p.tier != device || p.group != group || m.copies[place{group, host, p.content}] > 0
	})
	if len(candidates) == 0 {
		return nil
	}
	c := candidates[m.rng.IntN(len(candidates))].content
	m.add(place{group, host, c})
	if m.engine == mirror.SGLang {
		e := m.stored(group, []*content{c}, []*content{c})
		e["medium"] = m.medium(host)
		return []event{e}
	}
	return []event{{
		"type": "BlockStored", "block_hashes": []uint64{m.hash(c)}, "parent_block_hash": nil,
		"token_ids": []uint32{}, "block_size": blockSize, "lora_id": nil, "medium": m.medium(host),
	}}
}

// revocable reports whether the engine may hide a block without an event.
func (m *model) revocable(c *content) bool {
	return m.engine == mirror.SGLang && !m.loadedOnce && c.adapter != ""
}

// reload loads every adapter anew. What was stored before stays where it is under
// its old names, and is never reused; no event says so.
func (m *model) reload() []event {
	hidden := map[*content]*content{}
	for i, p := range m.places {
		if !m.revocable(p.content) {
			continue
		}
		n := m.copies[p]
		delete(m.copies, p)
		p.content = m.hide(p.content, hidden)
		m.places[i], m.copies[p] = p, n
	}
	return nil
}

// hide returns a content that has the name of another one, which gets a new name.
func (m *model) hide(c *content, hidden map[*content]*content) *content {
	if c == nil || hidden[c] != nil {
		return hidden[c]
	}
	old := *c
	hidden[c] = &old
	old.parent = m.hide(c.parent, hidden)
	m.hashes[&old] = m.hash(c)
	delete(m.hashes, c)
	return &old
}

func (m *model) medium(tier int) string {
	switch {
	case tier == device:
		return "GPU"
	case m.engine == mirror.SGLang:
		return "CPU_PINNED"
	}
	return "CPU"
}

// reset forgets everything cached.
func (m *model) reset() []event {
	m.cache.clear()
	return []event{{"type": "AllBlocksCleared"}}
}

// encode is the payload of one message.
func encode(timestamp float64, events []event) []byte {
	payload, err := msgpack.Marshal([]any{timestamp, events, 0})
	if err != nil {
		panic(err)
	}
	return payload
}
