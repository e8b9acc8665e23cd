/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import (
	"slices"
	"strings"

	"inferencecache.io/inference-cache/pkg/fingerprint"
)

// mark makes every block possible that a hash without a position may mean.
func (m *Mirror) mark(p *partial, start cursor, known, low, high []int) {
	if m.blocks.full(len(p.own) * (1 + len(m.salts))) {
		return // nothing is marked, which is said
	}
	candidate := make([]bool, len(p.own))
	for i := range p.hashes {
		if known[i] != unknownPosition {
			continue
		}
		for at := low[i]; at <= high[i]; at++ {
			candidate[at] = true
		}
	}
	for _, position := range known {
		if position != unknownPosition {
			candidate[position] = false
		}
	}
	m.markChain(p, start, candidate)
	if p.hasParent || p.salt != "" {
		return
	}
	// The first block is not listed, or its list says that there is no salt. In
	// the first case any salt may separate the chain; those are tried that the
	// engine has named elsewhere.
	for _, salt := range m.salts {
		if at := m.root(p.adapter, p.size, salt); at.known {
			m.markChain(p, at, candidate)
		}
	}
}

// markChain marks the candidates among the blocks of a chain.
func (m *Mirror) markChain(p *partial, at cursor, candidate []bool) {
	for i, own := range p.own {
		to, scope := at.at(own), at.scope
		at = cursor{parent: fingerprint.Parent{Hash: to.content, Present: true}, scope: scope, depth: to.depth + 1}
		if !candidate[i] {
			continue
		}
		n := m.nodeAt(m.obtainContent(scope, to))
		n.refs++
		s := n.slot(p.lane)
		s.possible++
		m.touchSlot(n, s)
		p.marked = append(p.marked, n.block)
	}
}

// obtainContent returns the primary block of a content, made without a name when it
// is missing.
func (m *Mirror) obtainContent(scope uint32, at position) uint32 {
	i := m.findContent(scope, at.content)
	if i == none {
		i = m.blocks.alloc()
		m.setPlace(i, scope, at)
		m.makePrimary(i)
	}
	return i
}

// maxSalts is how many salts are remembered.
const maxSalts = 16

// noteSalt remembers a salt, in place of the oldest one when there are many.
func (m *Mirror) noteSalt(salt string) {
	if salt == "" || slices.Contains(m.salts, salt) {
		return
	}
	if len(m.salts) == maxSalts {
		m.salts = slices.Delete(m.salts, 0, 1)
	}
	m.salts = append(m.salts, strings.Clone(salt))
}

// unmark takes back what a partial made possible.
func (m *Mirror) unmark(p *partial) {
	for _, i := range p.marked {
		n := m.nodeAt(i)
		s := n.slot(p.lane)
		s.possible--
		m.touchSlot(n, s)
		m.forgo(i)
	}
	p.marked = nil
}
