/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sim

// radix is SGLang's cache: a radix tree over pages, one tree per namespace, in
// front of a pool of pages and, optionally, a host tier.
//
// On every path from a root the pages on the device come first, then pages that
// only the host still has. Nodes are evicted whole, leaves first.
type radix struct {
	pageSize    int
	joined      bool
	removal     removalForm
	evictsAll   bool
	free, total int
	hostFree    int
	hostTotal   int
	roots       map[namespace]*node
	// clock orders accesses.
	clock uint64
}

// namespace separates trees. The key that a request may carry besides its salt
// separates too, but is not part of a hash.
type namespace struct {
	adapter, salt, key string
}

// node is an edge of the tree with the pages on it.
type node struct {
	parent   *node
	children map[digest]*node
	hashes   []digest
	tokens   []uint32
	origin   *sequence
	onDevice bool
	onHost   bool
	locks    int
	used     uint64
}

func newRadix(cfg Config, d dialect) *radix {
	return &radix{
		pageSize:  cfg.BlockSize,
		joined:    d.joined,
		removal:   d.removal,
		evictsAll: d.evictsAll,
		free:      cfg.Blocks,
		total:     cfg.Blocks,
		hostFree:  cfg.HostBlocks,
		hostTotal: cfg.HostBlocks,
		roots:     map[namespace]*node{},
	}
}

func (c *radix) root(s *sequence) *node {
	n := namespace{s.Adapter, s.Salt, s.ExtraKey}
	if c.roots[n] == nil {
		c.roots[n] = &node{children: map[digest]*node{}, onDevice: true}
	}
	return c.roots[n]
}

func (c *radix) admit(s *sequence) (device, host int, batches [][]event) {
	s.tokens = append(s.tokens, s.Tokens...)
	s.chain = chainSGLang(s.tokens, c.pageSize, s.Adapter, s.Salt)
	// At least one token is always computed.
	limit := (len(s.tokens) - 1) / c.pageSize
	path := c.match(c.root(s), s.chain[:limit])
	var events []event
	for _, n := range path {
		n.locks++
		s.leaf = n
		s.shared += len(n.hashes)
		if n.onDevice {
			device += len(n.hashes) * c.pageSize
			continue
		}
		host += len(n.hashes) * c.pageSize
		events = append(events, c.loadBack(n)...)
	}
	events = append(events, c.allocate(s)...)
	added, node := c.insert(s)
	batches = batch(append(events, added...))
	return device, host, append(batches, c.backUp(node)...)
}

// match walks down as far as the chain reaches and splits the last node where
// the chain leaves it.
func (c *radix) match(at *node, chain []digest) []*node {
	var path []*node
	for len(chain) > 0 {
		next := at.children[chain[0]]
		if next == nil {
			break
		}
		same := 0
		for same < len(next.hashes) && same < len(chain) && next.hashes[same] == chain[same] {
			same++
		}
		// Both halves of a split count as used, also the one that does not match.
		c.clock++
		next.used = c.clock
		if same < len(next.hashes) {
			next = c.split(next, same)
		}
		path = append(path, next)
		at, chain = next, chain[same:]
	}
	return path
}

// split cuts a node after some pages and returns the upper part. Nothing is
// announced: the pages stay what and where they are.
func (c *radix) split(n *node, pages int) *node {
	upper := *n
	upper.hashes, n.hashes = n.hashes[:pages:pages], n.hashes[pages:]
	upper.tokens, n.tokens = n.tokens[:pages*c.pageSize:pages*c.pageSize], n.tokens[pages*c.pageSize:]
	upper.children = map[digest]*node{n.hashes[0]: n}
	upper.parent.children[upper.hashes[0]] = &upper
	n.parent = &upper
	return &upper
}

// loadBack brings a node from the host to the device again.
func (c *radix) loadBack(n *node) []event {
	events := c.makeRoom(len(n.hashes))
	c.free -= len(n.hashes)
	n.onDevice = true
	return append(events, c.announce(n, mediumGPU)...)
}

// allocate gives s the pages up to its newest token. The engine makes room for
// one page more than it may need when pages are larger than tokens.
func (c *radix) allocate(s *sequence) []event {
	have := s.shared + s.owned
	tokens := max(0, len(s.tokens)-have*c.pageSize)
	need := (tokens + c.pageSize - 1) / c.pageSize
	room := need
	if c.pageSize > 1 {
		room = (tokens + 2*c.pageSize - 1) / c.pageSize
	}
	events := c.makeRoom(min(room, c.total))
	c.free -= need
	s.owned += need
	return events
}

// insert hands the full pages of s to the tree. Pages that the tree has already
// are given back: it never holds a copy. The new node is nil if there is none.
func (c *radix) insert(s *sequence) ([]event, *node) {
	root := c.root(s)
	path := c.match(root, s.chain)
	at, have := root, 0
	for _, n := range path {
		at = n
		have += len(n.hashes)
	}
	given := len(s.chain) - s.shared
	s.owned -= given
	c.free += have - s.shared
	var fresh *node
	if have < len(s.chain) {
		c.clock++
		fresh = &node{
			parent:   at,
			children: map[digest]*node{},
			hashes:   s.chain[have:],
			tokens:   s.tokens[have*c.pageSize : len(s.chain)*c.pageSize],
			origin:   s,
			onDevice: true,
			used:     c.clock,
		}
		at.children[fresh.hashes[0]] = fresh
		at = fresh
	}
	s.shared = len(s.chain)
	c.move(s, at)
	if fresh == nil {
		return nil, nil
	}
	return c.announce(fresh, mediumGPU), fresh
}

// move puts the lock of s on another node's path.
func (c *radix) move(s *sequence, to *node) {
	for n := s.leaf; n != nil && n.parent != nil; n = n.parent {
		n.locks--
	}
	for n := to; n != nil && n.parent != nil; n = n.parent {
		n.locks++
	}
	s.leaf = to
}

func (c *radix) extend(s *sequence) [][]event {
	return batch(c.allocate(s))
}

func (c *radix) finish(s *sequence) [][]event {
	s.chain = chainSGLang(s.tokens, c.pageSize, s.Adapter, s.Salt)
	events, fresh := c.insert(s)
	c.move(s, nil)
	c.free += s.owned
	s.owned = 0
	return append(batch(events), c.backUp(fresh)...)
}

func (c *radix) reset() [][]event {
	c.free, c.hostFree = c.total, c.hostTotal
	clear(c.roots)
	return [][]event{{{kind: cleared}}}
}

func (c *radix) usage() usage {
	return usage{
		evictable: c.total - c.free,
		total:     c.total,
		hostUsed:  c.hostTotal - c.hostFree,
		hostTotal: c.hostTotal,
	}
}
