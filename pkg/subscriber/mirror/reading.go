/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import "inferencecache.io/inference-cache/pkg/kvevents"

// class is how a BlockStored is to be taken.
type class uint8

const (
	// classChained lists every block that its tokens fill.
	classChained class = iota + 1
	// classPartial lists only some of them, as window groups do.
	classPartial
	// classUntokened has no tokens: hashes that were announced before.
	classUntokened
	// classIgnored says nothing about prefixes.
	classIgnored
	// classForeign is about another program's blocks.
	classForeign
	// classUnknownMedium names a tier that is not known.
	classUnknownMedium
	// classMalformed contradicts itself.
	classMalformed
)

// reading is an event's class with what it was decided by.
type reading struct {
	class class
	group uint32
	tier  Tier
}

// read decides how a BlockStored is to be taken and learns about its group.
func (m *Mirror) read(ev *kvevents.Event) reading {
	r := reading{}
	var ok bool
	if m.opts.Engine == VLLM && ev.Medium == lmcacheMedium {
		r.class = classForeign
		return r
	}
	if r.tier, ok = tierOf(ev.Medium); !ok {
		r.class = classUnknownMedium
		return r
	}
	if r.group, ok = groupIndex(ev); !ok || ev.BlockSize <= 0 || ev.BlockSize > maxBlockSize {
		r.class = classMalformed
		return r
	}
	if len(ev.Hashes) > 0 && (len(ev.Tokens) == 0 || m.inLargerBlocks(ev, r)) {
		r.class, r.group = classUntokened, m.creditedGroup(ev, r.group)
		return r
	}
	g := m.observe(r.group, ev)
	blocks := len(ev.Tokens) / ev.BlockSize
	switch {
	case g == nil:
		r.class = classMalformed
	case g.ignored:
		r.class = classIgnored
	case len(ev.Tokens)%ev.BlockSize != 0 || len(ev.Hashes) > blocks:
		r.class = classMalformed
	case len(ev.Hashes) == blocks:
		r.class = classChained
	case g.Kind != GroupFull:
		r.class = classPartial
	case ev.HasGroup && ev.SpecKind == "":
		// Some releases number their groups without saying of which kind they are.
		// This one is not full; held to the rule of one it promises too little.
		r.class = classPartial
		m.confidence.Degraded = "the engine does not say what kind its KV-cache groups are of"
	default:
		r.class = classMalformed
	}
	return r
}

// inLargerBlocks reports whether a store outside of the engine's own memory names
// blocks that are a multiple of the group's. Their tokens say nothing new.
func (m *Mirror) inLargerBlocks(ev *kvevents.Event, r reading) bool {
	g := m.groups[r.group]
	return r.tier > T1 && g != nil && uint32(ev.BlockSize) > g.BlockSize && uint32(ev.BlockSize)%g.BlockSize == 0
}

// creditedGroup is the group of an event about blocks known before. A connector
// that does not say which group it saved is believed for the first full one only,
// which never promises more than there is.
func (m *Mirror) creditedGroup(ev *kvevents.Event, index uint32) uint32 {
	if ev.HasGroup || len(m.groups) < 2 {
		return index
	}
	for i := range uint32(maxGroup + 1) {
		if g := m.groups[i]; g != nil && g.Kind == GroupFull {
			return i
		}
	}
	return index
}
