/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import (
	"cmp"
	"slices"
)

// Snapshot returns changes that build, from nothing, the state as of the last
// Flush. Equal states give equal snapshots. It takes time in proportion to what
// the engine holds.
func (m *Mirror) Snapshot() []Change {
	var out []Change
	for id := range m.scopes {
		out = append(out, m.declareScope(uint32(id)))
	}
	for i := range uint32(maxGroup + 1) {
		if g := m.groups[i]; g != nil && !g.ignored {
			out = append(out, g.GroupDeclared)
		}
	}
	buckets := map[runKey][]*node{}
	for _, n := range m.nodes {
		for i := range n.slots {
			if s := &n.slots[i]; s.emitted != 0 {
				key := runKey{n.scope, s.group, s.tier, s.emitted}
				buckets[key] = append(buckets[key], n)
			}
		}
	}
	keys := make([]runKey, 0, len(buckets))
	for key := range buckets {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b runKey) int {
		return cmp.Or(cmp.Compare(a.scope, b.scope), cmp.Compare(a.group, b.group),
			cmp.Compare(a.tier, b.tier), cmp.Compare(a.certainty, b.certainty))
	})
	for _, key := range keys {
		out = m.appendRuns(out, key, buckets[key])
	}
	return append(out, ConfidenceChanged{m.told})
}

// appendRuns cuts a set of contents into runs as long as they get when every
// content is followed by one of its children at most.
func (m *Mirror) appendRuns(out []Change, key runKey, nodes []*node) []Change {
	for _, n := range nodes {
		if parent := m.reportedParent(n, key); parent != nil && (parent.heir == nil || n.content < parent.heir.content) {
			parent.heir = n
		}
	}
	var heads []*node
	for _, n := range nodes {
		if parent := m.reportedParent(n, key); parent == nil || parent.heir != n {
			heads = append(heads, n)
		}
	}
	slices.SortFunc(heads, func(a, b *node) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.content, b.content))
	})
	for _, head := range heads {
		run, length := startRun(key, head), 1
		for n := head.heir; n != nil; n = n.heir {
			length++
		}
		run.Hashes = slices.Grow(run.Hashes, length-1)
		for n := head.heir; n != nil; n = n.heir {
			run.Hashes = append(run.Hashes, n.content)
		}
		out = append(out, run)
	}
	for _, n := range nodes {
		n.heir = nil
	}
	return out
}

// reportedParent returns the content before n if that is reported in the same
// place, else nil.
func (m *Mirror) reportedParent(n *node, key runKey) *node {
	if !n.hasParent {
		return nil
	}
	parent := m.nodes[nodeKey{scope: n.scope, content: n.parent}]
	if parent == nil || !n.follows(parent) {
		return nil
	}
	if s := parent.find(key.group, key.tier); s == nil || s.emitted != key.certainty {
		return nil
	}
	return parent
}
