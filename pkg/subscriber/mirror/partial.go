/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import (
	"slices"
	"strings"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	"inferencecache.io/inference-cache/pkg/kvevents"
)

// partial is an announcement that lists fewer hashes than its tokens fill blocks,
// and at least one hash whose position is unknown. What is known for certain is
// that the listed hashes lie among the blocks in the order in which they are
// listed.
type partial struct {
	lane          uint8
	adapter, size uint32
	// parent is the engine hash before the first block, if hasParent.
	parent    uint64
	hasParent bool
	// salt is that of the chain, as far as the announcement says it. When a block
	// is listed with it (saltListed), that is the first one of the chain.
	salt       string
	saltListed bool
	// guessed: the chain is taken for an unsalted one, but nothing proves it.
	guessed bool
	// own are the content hashes of all blocks, without keys.
	own []uint64
	// hashes are those listed, keys what their blocks contain besides tokens.
	hashes []uint64
	keys   [][]fingerprint.Key
	// pending counts the listed hashes that are resident without a position.
	pending int
	// marked are the primary blocks of the contents that this announcement makes
	// possible.
	marked []uint32
	// late: registered with the parent.
	late bool
}

// maxPartials bounds the announcements remembered for one hash.
const maxPartials = 4

// storePartial takes the residency of a store that does not list every block.
func (m *Mirror) storePartial(ev *kvevents.Event, r reading) {
	adapter, ok := m.adapter(adapterOf(ev), m.opts.Limits.Scopes)
	if !ok {
		m.refuse(len(ev.Hashes))
		return
	}
	size := uint32(ev.BlockSize)
	m.follow(ev, size)
	p := &partial{
		lane: m.lane(r.group, r.tier), adapter: adapter, size: size,
		parent: ev.Parent.Uint64(), hasParent: ev.HasParent, salt: ev.CacheSalt,
	}
	for i := range ev.Hashes {
		at := m.obtain(ev.Hashes[i].Uint64(), size)
		if at == none {
			m.refuse(len(ev.Hashes) - i)
			break
		}
		m.addCopy(at, p.lane)
		if e := m.parked[at]; e != nil && len(e.partials) < maxPartials {
			e.partials = append(e.partials, p)
			p.pending++
		}
	}
	if p.pending > 0 {
		m.describe(p, ev)
		m.pins = append(m.pins, p)
		m.settle()
	}
}

// describe keeps of an event what its positions can be found from later.
func (m *Mirror) describe(p *partial, ev *kvevents.Event) {
	size := ev.BlockSize
	for tokens := ev.Tokens; len(tokens) >= size; tokens = tokens[size:] {
		p.own = append(p.own, fingerprint.Content(tokens[:size]))
	}
	for i := range ev.Hashes {
		// Only the first block of a chain can carry the salt, and it can only be
		// the first one listed.
		keys, salt := m.blockKeys(extraKeys(ev, i), ev.LoRAName, i == 0 && !ev.HasParent)
		if salt != "" {
			p.salt, p.saltListed = strings.Clone(salt), true
			m.noteSalt(salt)
		}
		p.hashes = append(p.hashes, ev.Hashes[i].Uint64())
		p.keys = append(p.keys, cloneKeys(keys))
	}
}

// cloneKeys copies what keys refer to.
func cloneKeys(keys []fingerprint.Key) []fingerprint.Key {
	for i := range keys {
		keys[i].Bytes = slices.Clone(keys[i].Bytes)
	}
	return keys
}

// pin finds positions from what is known by now, and marks the blocks that the
// hashes without one may mean.
func (m *Mirror) pin(p *partial) {
	m.unmark(p)
	if p.pending <= 0 {
		m.retire(p)
		return
	}
	start, ok := m.startOf(p)
	if !ok || int(start.depth)+len(p.own) > maxDepth {
		return
	}
	known, ok := m.knownPositions(p, start)
	if !ok {
		return
	}
	low, high := p.bounds(known)
	p.guessed = !m.provesRoot(p, start, known, high)
	m.placeFixed(p, start, known, low, high)
	m.mark(p, start, known, low, high)
}

// startOf returns the place of a partial's first block. While the parent has no
// position the partial waits for it.
func (m *Mirror) startOf(p *partial) (cursor, bool) {
	if !p.hasParent {
		at := m.root(p.adapter, p.size, p.salt)
		return at, at.known
	}
	if parent := m.lookup(p.parent, p.size); parent != none && m.at(parent).placed() {
		p.late = false
		return m.after(parent), true
	}
	if !p.late {
		p.late = true
		m.late[p.parent] = append(m.late[p.parent], p)
	}
	return cursor{}, false
}

// provesRoot reports whether a partial's chain is known to start where it is taken
// to start. A salt is said with the first block only, so an announcement of a
// chain's beginning that does not list that block leaves it open.
func (m *Mirror) provesRoot(p *partial, start cursor, known, high []int) bool {
	if p.hasParent || p.salt != "" || high[0] == 0 {
		return true
	}
	first := slices.IndexFunc(known, func(at int) bool { return at != unknownPosition })
	if first < 0 {
		return false
	}
	at := start
	for _, own := range p.own[:known[first]+1] {
		at = cursor{parent: fingerprint.Parent{Hash: at.at(own).content, Present: true}, scope: at.scope}
	}
	return m.at(m.lookup(p.hashes[first], p.size)).content() == at.parent.Hash
}

// unknownPosition stands for a position that is still to be found.
const unknownPosition = -1

// knownPositions returns the positions of the listed hashes relative to the first
// block. It is not ok when they contradict the order of the announcement.
func (m *Mirror) knownPositions(p *partial, start cursor) ([]int, bool) {
	known := make([]int, len(p.hashes))
	last := unknownPosition
	for i, hash := range p.hashes {
		known[i] = unknownPosition
		found := m.lookup(hash, p.size)
		if found == none || !m.at(found).placed() {
			continue
		}
		at := int(m.at(found).depth()) - int(start.depth)
		if at <= last || at >= len(p.own) {
			return nil, false
		}
		known[i], last = at, at
	}
	return known, true
}

// bounds returns the lowest and the highest position that each listed hash can
// have, given the known ones: hashes keep their order.
func (p *partial) bounds(known []int) (low, high []int) {
	given := slices.Clone(known)
	if p.saltListed {
		given[0] = 0
	}
	low, high = make([]int, len(given)), make([]int, len(given))
	for i, next := 0, 0; i < len(given); i++ {
		low[i] = next
		if given[i] != unknownPosition {
			low[i] = given[i]
		}
		next = low[i] + 1
	}
	for i, next := len(given)-1, len(p.own)-1; i >= 0; i-- {
		high[i] = next
		if given[i] != unknownPosition {
			high[i] = given[i]
		}
		next = high[i] - 1
	}
	return low, high
}

// placeFixed places the hashes that can be in one position only. The content
// there is certain as long as every block since a certain one is listed: what
// else a block contains than its tokens is said of listed blocks only.
func (m *Mirror) placeFixed(p *partial, at cursor, known, low, high []int) {
	next, certain := 0, true
	for i, hash := range p.hashes {
		found := m.lookup(hash, p.size)
		if known[i] != unknownPosition {
			at, next, certain = m.after(found), known[i]+1, true
			continue
		}
		certain = certain && low[i] == high[i] && low[i] == next && found != none
		if !certain {
			continue
		}
		e := m.parked[found]
		e.own, e.hasOwn = fingerprint.WithKeys(p.own[next], p.keys[i]), true
		to := at.at(e.own)
		m.placements = append(m.placements, placement{parked: e, scope: at.scope, at: to})
		known[i] = next
		at = cursor{
			parent: fingerprint.Parent{Hash: to.content, Present: true},
			scope:  at.scope, depth: to.depth + 1, known: true,
		}
		next++
	}
}

// abandon notes that a hash without a position is not resident any more.
func (m *Mirror) abandon(i uint32) {
	e := m.parked[i]
	for _, p := range e.partials {
		p.pending--
		if p.pending <= 0 {
			m.unmark(p)
			m.retire(p)
		}
	}
	e.partials = nil
}

// retire forgets a partial that has nothing left to find.
func (m *Mirror) retire(p *partial) {
	if !p.late {
		return
	}
	p.late = false
	late := slices.DeleteFunc(m.late[p.parent], func(other *partial) bool { return other == p })
	if len(late) == 0 {
		delete(m.late, p.parent)
		return
	}
	m.late[p.parent] = late
}
