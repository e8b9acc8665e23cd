/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import "slices"

// ghosts are the placed blocks whose last copy is gone. They are remembered as
// parents of blocks to come, in a queue in which those that were needed get a
// second round.
type ghosts struct {
	// count is the number of ghosts.
	count int
	// queue has every ghost once, and blocks that have become something else, from
	// first on.
	queue []uint32
	first int
}

// isGhost reports whether a block is remembered without being resident.
func (m *Mirror) isGhost(i uint32, b *block) bool {
	return b.named() && b.placed() && !m.resident(i, b)
}

// haunt puts a block into the queue whose last copy went.
func (m *Mirror) haunt(i uint32, b *block) {
	if b.home&isQueued != 0 {
		b.home |= isUsed
		return
	}
	b.home |= isQueued
	m.ghosts.queue = append(m.ghosts.queue, i)
}

// laggards is how many others there may be in the queue beside the ghosts.
const laggards = 1 << 10

// trimGhosts forgets ghosts until there are not too many.
func (m *Mirror) trimGhosts() {
	g := &m.ghosts
	for g.count > m.opts.Limits.Ghosts && g.first < len(g.queue) {
		i := g.queue[g.first]
		g.first++
		b := m.at(i)
		used := b.home&isUsed != 0
		b.home &^= isQueued | isUsed
		switch {
		case !m.isGhost(i, b):
		case used:
			m.haunt(i, b)
		default:
			m.drop(i)
		}
	}
	if len(g.queue)-g.first > 2*g.count+laggards {
		g.queue = slices.DeleteFunc(g.queue[g.first:], func(i uint32) bool {
			b := m.at(i)
			if m.isGhost(i, b) {
				return false
			}
			b.home &^= isQueued | isUsed
			return true
		})
		g.first = 0
	}
	if g.first > len(g.queue)/2 {
		g.queue = g.queue[:copy(g.queue, g.queue[g.first:])]
		g.first = 0
	}
}
