/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sim

import "slices"

// paged is vLLM's cache: a pool of blocks that all groups share.
type paged struct {
	blockSize int
	groups    []Group
	root      digest
	pool      *pool
	// resetPending is an announcement that goes out with the next step; an idle
	// engine says nothing.
	resetPending bool
}

func newPaged(cfg Config, root digest, fifo bool) *paged {
	return &paged{blockSize: cfg.BlockSize, groups: cfg.Groups, root: root, pool: newPool(cfg.Blocks, fifo)}
}

func (c *paged) admit(s *sequence) (device, host int, batches [][]event) {
	s.tokens = append(s.tokens, s.Tokens...)
	s.chain = chainVLLM(c.root, s.tokens, c.blockSize, s.Adapter, s.Salt)
	// At least one token is always computed.
	limit := (len(s.tokens) - 1) / c.blockSize
	hit := c.match(s.chain[:limit])
	s.tables = make([][]*block, len(c.groups))
	for g, group := range c.groups {
		s.tables[g] = c.reuse(g, group, s.chain[:hit])
	}
	events := c.pending()
	for g := range c.groups {
		events = append(events, c.allocate(s, g)...)
	}
	shared := c.sharedPrefix(s.chain[:limit])
	for g, group := range c.groups {
		events = append(events, c.store(s, g, hit, c.keep(group, len(s.chain), limit, shared))...)
	}
	return hit * c.blockSize, 0, batch(events)
}

// match returns how many blocks of a chain all groups can reuse together.
func (c *paged) match(chain []digest) int {
	for n := len(chain); n > 0; n-- {
		if c.reusable(chain[:n]) {
			return n
		}
	}
	return 0
}

func (c *paged) reusable(chain []digest) bool {
	for g, group := range c.groups {
		first := 0
		if group.Window > 0 {
			first = max(0, len(chain)-group.blocks(c.blockSize))
		}
		for _, hash := range chain[first:] {
			if c.pool.find(name{g, hash}) == nil {
				return false
			}
		}
	}
	return true
}

// reuse returns a block table with the blocks of a hit that a group needs.
func (c *paged) reuse(g int, group Group, chain []digest) []*block {
	table := make([]*block, len(chain))
	first := 0
	if group.Window > 0 {
		first = max(0, len(chain)-group.blocks(c.blockSize))
	}
	for i := first; i < len(chain); i++ {
		table[i] = c.pool.find(name{g, chain[i]})
		c.pool.use(table[i])
	}
	return table
}

// pending returns an announcement held back from a reset.
func (c *paged) pending() []event {
	if !c.resetPending {
		return nil
	}
	c.resetPending = false
	return []event{{kind: cleared}}
}

// allocate fills the table of a group up to the newest token and returns the
// removals that made room.
func (c *paged) allocate(s *sequence, g int) []event {
	var events []event
	for len(s.tables[g])*c.blockSize < len(s.tokens) {
		b, lost, had := c.pool.take()
		if had {
			events = append(events, event{
				kind: removed, hashes: []digest{lost.hash}, medium: mediumGPU, group: lost.group,
			})
		}
		s.tables[g] = append(s.tables[g], b)
	}
	return events
}

// sharedPrefix returns how many blocks the groups with full attention hold. Other
// prompts have parted there, so later ones may part there too.
func (c *paged) sharedPrefix(chain []digest) int {
	if !slices.Contains(c.groups, Group{}) {
		return 0
	}
	for n, hash := range chain {
		for g, group := range c.groups {
			if group.Window == 0 && c.pool.find(name{g, hash}) == nil {
				return n
			}
		}
	}
	return len(chain)
}

// keep says which blocks of a prompt a group makes findable. A window group
// keeps what a reuse of the longest possible prefix would need, and of the
// prefix that is shared already.
func (c *paged) keep(group Group, length, limit, shared int) func(int) bool {
	if group.Window == 0 {
		return func(i int) bool { return i < length }
	}
	window := group.blocks(c.blockSize)
	return func(i int) bool {
		return i < limit && i >= limit-window || i < shared && i >= shared-window
	}
}

// store announces the blocks of s from position hit on for one group, and makes
// those findable that the group keeps.
func (c *paged) store(s *sequence, g, hit int, keep func(int) bool) []event {
	if hit >= len(s.chain) {
		return nil
	}
	e := event{
		kind:    stored,
		tokens:  s.tokens[hit*c.blockSize : len(s.chain)*c.blockSize],
		first:   hit == 0 && keep(0),
		adapter: s.Adapter,
		salt:    s.Salt,
		medium:  mediumGPU,
		group:   g,
		window:  c.groups[g].Window,
	}
	if hit > 0 {
		e.parent = &s.chain[hit-1]
	}
	for i := hit; i < len(s.chain); i++ {
		if keep(i) {
			c.pool.remember(s.tables[g][i], name{g, s.chain[i]})
			e.hashes = append(e.hashes, s.chain[i])
		}
	}
	return []event{e}
}

func (c *paged) extend(s *sequence) [][]event {
	var events []event
	for g, group := range c.groups {
		if group.Window > 0 {
			c.slide(s, g, group)
		}
	}
	for g := range c.groups {
		events = append(events, c.allocate(s, g)...)
	}
	if len(s.tokens)%c.blockSize != 0 {
		return batch(events)
	}
	hit := len(s.chain)
	s.chain = chainVLLM(c.root, s.tokens, c.blockSize, s.Adapter, s.Salt)
	for g, group := range c.groups {
		// What is generated is not made findable in a window group.
		all := func(int) bool { return group.Window == 0 }
		events = append(events, c.store(s, g, hit, all)...)
	}
	return batch(events)
}

// slide releases the blocks that the window has passed.
func (c *paged) slide(s *sequence, g int, group Group) {
	passed := max(0, len(s.tokens)-group.Window) / c.blockSize
	for i := passed - 1; i >= 0 && s.tables[g][i] != nil; i-- {
		c.pool.release(s.tables[g][i])
		s.tables[g][i] = nil
	}
}

func (c *paged) finish(s *sequence) [][]event {
	for _, table := range s.tables {
		for _, b := range slices.Backward(table) {
			if b != nil {
				c.pool.release(b)
			}
		}
	}
	return nil
}

func (c *paged) reset() [][]event {
	c.pool.clear()
	c.resetPending = true
	return nil
}

func (c *paged) usage() usage {
	evictable := 0
	for b := c.pool.free.next; b != &c.pool.free; b = b.next {
		if b.cached {
			evictable++
		}
	}
	return usage{running: c.pool.size - c.pool.unused, evictable: evictable, total: c.pool.size}
}
