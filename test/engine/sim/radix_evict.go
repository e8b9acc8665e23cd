/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sim

import "slices"

// announce says that the pages of a node are now in a tier: in one event where
// the engine joins them, else page by page.
func (c *radix) announce(n *node, medium string) []event {
	e := event{
		kind:    stored,
		hashes:  n.hashes,
		tokens:  n.tokens,
		first:   n.parent.parent == nil,
		adapter: n.origin.Adapter,
		salt:    n.origin.Salt,
		session: n.origin.Session,
		medium:  medium,
	}
	if !e.first {
		e.parent = &n.parent.hashes[len(n.parent.hashes)-1]
	}
	if c.joined {
		return []event{e}
	}
	events := make([]event, 0, len(n.hashes))
	for i := range n.hashes {
		page := e
		page.hashes = n.hashes[i : i+1]
		page.tokens = n.tokens[i*c.pageSize : (i+1)*c.pageSize]
		if i > 0 {
			page.parent, page.first = &n.hashes[i-1], false
		}
		events = append(events, page)
	}
	return events
}

// makeRoom evicts until so many pages are free on the device. Nothing happens
// when they are.
func (c *radix) makeRoom(pages int) []event {
	gone := removals{form: c.removal}
	if c.free >= pages {
		return nil
	}
	if c.evictsAll {
		pages += c.free
	}
	for c.free < pages {
		victim := c.oldest(func(n *node) bool {
			return n.onDevice && n.locks == 0 && !hasDeviceChild(n)
		})
		if victim == nil {
			break
		}
		c.free += len(victim.hashes)
		victim.onDevice = false
		gone.add(victim.hashes, mediumGPU)
		if !victim.onHost {
			c.drop(victim, &gone)
		}
	}
	return gone.events
}

// backUp copies a new node to the host, in a batch of its own because the copy
// takes until a later step. Without room it is left out.
func (c *radix) backUp(n *node) [][]event {
	if n == nil || c.hostTotal == 0 {
		return nil
	}
	gone := removals{form: c.removal}
	for c.hostFree < len(n.hashes) {
		victim := c.oldest(func(n *node) bool {
			return n.onHost && !n.onDevice && n.locks == 0 && len(n.children) == 0
		})
		if victim == nil {
			return batch(gone.events)
		}
		c.drop(victim, &gone)
	}
	c.hostFree -= len(n.hashes)
	n.onHost = true
	return batch(append(gone.events, c.announce(n, mediumHost)...))
}

// drop takes a node and what hangs below it out of the tree.
func (c *radix) drop(n *node, gone *removals) {
	for _, child := range n.children {
		c.drop(child, gone)
	}
	if n.onHost {
		c.hostFree += len(n.hashes)
		gone.add(n.hashes, mediumHost)
	}
	delete(n.parent.children, n.hashes[0])
}

// oldest returns the node unused for longest among those that qualify.
func (c *radix) oldest(qualifies func(*node) bool) *node {
	var found *node
	var walk func(*node)
	walk = func(n *node) {
		for _, child := range n.children {
			if qualifies(child) && (found == nil || child.used < found.used) {
				found = child
			}
			walk(child)
		}
	}
	for _, root := range c.roots {
		walk(root)
	}
	return found
}

func hasDeviceChild(n *node) bool {
	for _, child := range n.children {
		if child.onDevice {
			return true
		}
	}
	return false
}

// removals collects what leaves the tree, in the events that an engine makes of
// it.
type removals struct {
	form   removalForm
	events []event
}

func (r *removals) add(hashes []digest, medium string) {
	last := len(r.events) - 1
	switch {
	case r.form == removePage:
		for i := range hashes {
			r.events = append(r.events, event{kind: removed, hashes: hashes[i : i+1], medium: medium})
		}
	case r.form == removeJoined && last >= 0 && r.events[last].medium == medium:
		r.events[last].hashes = slices.Concat(r.events[last].hashes, hashes)
	default:
		r.events = append(r.events, event{kind: removed, hashes: hashes, medium: medium})
	}
}
