/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

// parked is what is known about an engine hash whose position in a chain is not.
type parked struct {
	block uint32
	hash  uint64
	size  uint32
	// parent is the engine hash of the block before, if hasParent.
	parent    uint64
	hasParent bool
	// own is the content hash of the block alone, if hasOwn.
	own    uint64
	hasOwn bool
	// waits: it is among those waiting for parent, between these neighbours.
	waits              bool
	waitPrev, waitPost *parked
	// partials are the announcements that may mean this hash.
	partials []*partial
	// prev and post are the neighbours in the order of arrival.
	prev, post *parked
}

// bounded reports whether the blocks that the hash may mean are marked.
func (e *parked) bounded() bool {
	for _, p := range e.partials {
		if len(p.marked) > 0 && !p.guessed {
			return true
		}
	}
	return false
}

// parkedList is a queue in which anyone can leave at any time. The zero value is
// an empty list.
type parkedList struct {
	head, tail *parked
}

func (l *parkedList) push(e *parked) {
	e.prev, e.post = l.tail, nil
	if l.tail == nil {
		l.head = e
	} else {
		l.tail.post = e
	}
	l.tail = e
}

func (l *parkedList) leave(e *parked) {
	if e.prev == nil {
		l.head = e.post
	} else {
		e.prev.post = e.post
	}
	if e.post == nil {
		l.tail = e.prev
	} else {
		e.post.prev = e.prev
	}
	e.prev, e.post = nil, nil
}

// park notes that a named block has no position.
func (m *Mirror) park(i, size uint32) {
	e := &parked{block: i, hash: m.at(i).hash(), size: size}
	m.parked[i] = e
	m.unplaced.push(e)
}

// unpark ends that.
func (m *Mirror) unpark(i uint32) {
	e := m.parked[i]
	m.stopWaiting(e)
	m.unplaced.leave(e)
	delete(m.parked, i)
}

// wait registers a hash with its parent.
func (m *Mirror) wait(e *parked, parent uint64) {
	if e.waits && e.parent == parent {
		return
	}
	m.stopWaiting(e)
	e.parent, e.hasParent, e.waits = parent, true, true
	if head := m.waiting[parent]; head != nil {
		e.waitPost, head.waitPrev = head, e
	}
	m.waiting[parent] = e
}

// stopWaiting takes a hash from those waiting for their parent.
func (m *Mirror) stopWaiting(e *parked) {
	if !e.waits {
		return
	}
	if e.waitPost != nil {
		e.waitPost.waitPrev = e.waitPrev
	}
	switch {
	case e.waitPrev != nil:
		e.waitPrev.waitPost = e.waitPost
	case e.waitPost != nil:
		m.waiting[e.parent] = e.waitPost
	default:
		delete(m.waiting, e.parent)
	}
	e.waits, e.waitPrev, e.waitPost = false, nil, nil
}
