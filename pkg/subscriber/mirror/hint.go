/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import (
	"slices"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	"inferencecache.io/inference-cache/pkg/kvevents"
)

// hint uses a store that continues a hash of unknown position. Its tokens are
// those of the blocks after that hash: where a partial has the same blocks after
// one of the candidates, that candidate is the one, because its only rivals would
// need a prompt that repeats whole blocks.
func (m *Mirror) hint(ev *kvevents.Event) {
	if !ev.HasParent || len(ev.Tokens) < ev.BlockSize {
		return
	}
	parent := m.lookup(ev.Parent.Uint64(), uint32(ev.BlockSize))
	if parent == nil || parent.node != nil || len(parent.partials) == 0 {
		return
	}
	if repeats(ev.Tokens[:ev.BlockSize]) {
		return
	}
	var own []uint64
	for tokens := ev.Tokens; len(tokens) >= ev.BlockSize; tokens = tokens[ev.BlockSize:] {
		own = append(own, fingerprint.Content(tokens[:ev.BlockSize]))
	}
	for _, p := range slices.Clone(parent.partials) {
		if m.compare(p, parent.hash, own) {
			m.pins = append(m.pins, p)
		}
	}
	m.settle()
}

// compare looks for the one position of a listed hash after which a partial has
// the given blocks, and reports whether it has fixed it.
func (m *Mirror) compare(p *partial, hash uint64, following []uint64) bool {
	start, ok := m.startOf(p)
	if !ok {
		return false
	}
	known, ok := m.knownPositions(p, start)
	if !ok {
		return false
	}
	low, high := p.bounds(known)
	i := slices.Index(p.hashes, hash)
	found := unknownPosition
	for at := low[i]; at <= high[i]; at++ {
		rest := p.own[at+1:]
		shared := min(len(rest), len(following))
		if shared == 0 || !slices.Equal(rest[:shared], following[:shared]) {
			continue
		}
		if found != unknownPosition {
			return false
		}
		found = at
	}
	if found == unknownPosition || low[i] == high[i] {
		return false
	}
	if p.fixed == nil {
		p.fixed = slices.Repeat([]int{unknownPosition}, len(p.hashes))
	}
	p.fixed[i] = found
	return true
}

// repeats reports whether a block consists of repetitions of a shorter one. Text
// that loops gives equal blocks one after the other, which then say nothing about
// their positions.
func repeats(tokens []uint32) bool {
	for period := 1; period <= len(tokens)/2; period++ {
		if len(tokens)%period == 0 && slices.Equal(tokens[period:], tokens[:len(tokens)-period]) {
			return true
		}
	}
	return false
}
