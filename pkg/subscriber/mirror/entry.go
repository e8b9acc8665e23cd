/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

// entry is what is known about one engine hash at one block size.
type entry struct {
	hash uint64
	// next has the same hash at another block size: groups of one model may cut
	// their blocks differently, and the hash of a large block equals that of the
	// small block at its end.
	next *entry
	// node is the content that the hash stands for; nil while its position in a
	// chain is unknown.
	node *node
	// parent is the engine hash of the block before, if hasParent.
	parent uint64
	// own is the content hash of the block alone, if hasOwn.
	own uint64
	// residencies are the groups and tiers in which copies exist.
	residencies []residency
	// partials are the announcements that may mean this hash while it has no node.
	partials []*partial
	// list is the list that the entry is on, if any, with its neighbours.
	list       *entryList
	prev, post *entry
	// waitPrev and waitPost are the neighbours among those waiting for parent.
	waitPrev, waitPost *entry

	blockSize uint32
	adapter   uint32
	hasParent bool
	hasOwn    bool
	// waits: the entry is among those waiting for parent.
	waits bool
	// dropped: the entry is no longer known.
	dropped bool
	// inline is the first residency, which is the only one of most blocks.
	inline [1]residency
}

// residency counts the copies of a block in one group and tier; never 0.
type residency struct {
	group  uint32
	tier   Tier
	copies int32
	// shrunk: a copy went and others stayed. Under the last-copy rule that
	// removal meant that nothing stays.
	shrunk bool
}

// residency returns the record of a group and tier, or nil.
func (e *entry) residency(group uint32, tier Tier) *residency {
	for i := range e.residencies {
		if r := &e.residencies[i]; r.group == group && r.tier == tier {
			return r
		}
	}
	return nil
}

// addResidency returns the record of a group and tier, made when it is missing.
func (e *entry) addResidency(group uint32, tier Tier) *residency {
	if r := e.residency(group, tier); r != nil {
		return r
	}
	if e.residencies == nil {
		e.residencies = e.inline[:0]
	}
	e.residencies = append(e.residencies, residency{group: group, tier: tier})
	return &e.residencies[len(e.residencies)-1]
}

// dropResidency forgets the record of a group and tier.
func (e *entry) dropResidency(group uint32, tier Tier) {
	for i := range e.residencies {
		if r := &e.residencies[i]; r.group == group && r.tier == tier {
			last := len(e.residencies) - 1
			e.residencies[i] = e.residencies[last]
			e.residencies = e.residencies[:last]
			return
		}
	}
}

// resident reports whether any copy exists.
func (e *entry) resident() bool { return len(e.residencies) > 0 }

// bounded reports whether the blocks that the entry may mean are marked.
func (e *entry) bounded() bool {
	for _, p := range e.partials {
		if len(p.marked) > 0 && !p.guessed {
			return true
		}
	}
	return false
}

// entryList is a queue of entries in which any of them can leave at any time. An
// entry is on one list at most. The zero value is an empty list.
type entryList struct {
	head, tail *entry
	length     int
}

// push puts e at the end, taking it from the list that it was on.
func (l *entryList) push(e *entry) {
	e.leave()
	e.list, e.prev, e.post = l, l.tail, nil
	if l.tail == nil {
		l.head = e
	} else {
		l.tail.post = e
	}
	l.tail = e
	l.length++
}

// leave takes e off its list.
func (e *entry) leave() {
	l := e.list
	if l == nil {
		return
	}
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
	l.length--
	e.list, e.prev, e.post = nil, nil, nil
}
