/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sim

// block is one physical block of a pool.
type block struct {
	hash       digest
	group      int
	cached     bool
	refs       int
	prev, next *block
}

// name is under what a cached block is found.
type name struct {
	group int
	hash  digest
}

// pool hands out blocks, the longest unused first. A block that nobody uses
// stays findable under its hash until it is handed out again. Several blocks
// may have one name: they are copies.
type pool struct {
	size int
	// fifo hands out blocks without a name in their turn instead of first.
	fifo   bool
	free   block // sentinel of the ring of unused blocks
	unused int
	named  map[name][]*block
}

func newPool(size int, fifo bool) *pool {
	p := &pool{size: size, fifo: fifo, named: map[name][]*block{}}
	p.free.prev, p.free.next = &p.free, &p.free
	for range size {
		p.link(&block{}, p.free.prev)
	}
	return p
}

// link puts an unused block behind another one.
func (p *pool) link(b, after *block) {
	b.prev, b.next = after, after.next
	after.next.prev, after.next = b, b
	p.unused++
}

func (p *pool) unlink(b *block) {
	b.prev.next, b.next.prev = b.next, b.prev
	b.prev, b.next = nil, nil
	p.unused--
}

// find returns the copy of a block that has been there longest, or nil.
func (p *pool) find(n name) *block {
	if copies := p.named[n]; len(copies) > 0 {
		return copies[0]
	}
	return nil
}

// use counts a user of a block, which can then not be handed out.
func (p *pool) use(b *block) {
	if b.refs == 0 {
		p.unlink(b)
	}
	b.refs++
}

// take hands out the block unused for longest. The caller makes sure there is
// one. It returns the name that the block loses, if it had one.
func (p *pool) take() (b *block, lost name, had bool) {
	b = p.free.next
	p.use(b)
	if !b.cached {
		return b, name{}, false
	}
	lost = name{group: b.group, hash: b.hash}
	p.forget(b)
	return b, lost, true
}

// forget takes the name off a block.
func (p *pool) forget(b *block) {
	n := name{group: b.group, hash: b.hash}
	copies := p.named[n]
	for i, other := range copies {
		if other == b {
			copies = append(copies[:i:i], copies[i+1:]...)
			break
		}
	}
	if len(copies) == 0 {
		delete(p.named, n)
	} else {
		p.named[n] = copies
	}
	b.cached = false
}

// remember makes a block findable.
func (p *pool) remember(b *block, n name) {
	b.group, b.hash, b.cached = n.group, n.hash, true
	p.named[n] = append(p.named[n], b)
}

// release ends one use. A block without a name is worth nothing: unless the pool
// is too old to know, it goes to the front of those to be handed out.
func (p *pool) release(b *block) {
	b.refs--
	switch {
	case b.refs > 0:
	case b.cached || p.fifo:
		p.link(b, p.free.prev)
	default:
		p.link(b, &p.free)
	}
}

// clear takes all names away.
func (p *pool) clear() {
	for _, copies := range p.named {
		for _, b := range copies {
			b.cached = false
		}
	}
	clear(p.named)
}
