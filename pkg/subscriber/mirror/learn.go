/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import (
	"inferencecache.io/inference-cache/pkg/fingerprint"
	"inferencecache.io/inference-cache/pkg/kvevents"
)

// learn takes the mapping from hashes to contents out of a store that lists every
// block. Residency is another matter; see store.
func (m *Mirror) learn(ev *kvevents.Event) {
	first := len(m.learned)
	m.learned = append(m.learned, make([]uint32, len(ev.Hashes))...)
	adapter, ok := m.adapter(adapterOf(ev), m.opts.Limits.Scopes)
	if !ok {
		m.refuse(len(ev.Hashes))
		return
	}
	size := uint32(ev.BlockSize)
	at, salt := m.follow(ev, size), m.describeBlocks(ev)
	if !ev.HasParent && len(ev.Hashes) > 0 {
		m.noteSalt(salt)
		at = m.root(adapter, size, salt)
	}
	m.fetchStored(ev, at)
	before := ancestor{ev.Parent.Uint64(), ev.HasParent}
	for i := range ev.Hashes {
		hash := ev.Hashes[i].Uint64()
		found := m.adopt(hash, size, m.owns[i], before, at)
		if found == none {
			m.refuse(len(ev.Hashes) - i)
			return
		}
		m.learned[first+i] = found
		at = cursor{}
		if m.at(found).placed() {
			at = m.after(found)
		}
		before = ancestor{hash, true}
	}
}

// ancestor is the engine hash of the block before, if there is one.
type ancestor struct {
	hash    uint64
	present bool
}

// describeBlocks leaves the content hashes of the blocks alone in Mirror.owns, and
// returns the salt of the chain if that starts here.
func (m *Mirror) describeBlocks(ev *kvevents.Event) (salt string) {
	m.owns = m.owns[:0]
	for i := range ev.Hashes {
		own := fingerprint.Content(ev.Tokens[i*ev.BlockSize : (i+1)*ev.BlockSize])
		if i < len(ev.ExtraKeys) {
			root := i == 0 && !ev.HasParent
			keys, named := m.blockKeys(ev.ExtraKeys[i], ev.LoRAName, root)
			own = fingerprint.WithKeys(own, keys)
			if root {
				salt = named
			}
		}
		m.owns = append(m.owns, own)
	}
	return firstNonEmpty(salt, ev.CacheSalt)
}

// follow returns the place after the parent of an event, if that is known.
func (m *Mirror) follow(ev *kvevents.Event, size uint32) cursor {
	if !ev.HasParent {
		return cursor{}
	}
	i := m.lookup(ev.Parent.Uint64(), size)
	if i == none || !m.at(i).placed() {
		return cursor{}
	}
	// Parents are worth remembering as long as they have children.
	m.at(i).home |= isUsed
	return m.after(i)
}

// fetched is the number of buckets from which on a table does not fit into the
// processor's cache. Every look into it then waits for memory, about as long as all
// other work on a block takes. Looking into the buckets of many blocks beforehand
// makes them wait together.
const fetched = 1 << 13

// fetchStored looks into the buckets that a store will need, given the place of its
// first block.
func (m *Mirror) fetchStored(ev *kvevents.Event, at cursor) {
	if len(m.hashes.buckets) < fetched {
		return
	}
	seen, parent := m.seen, at.parent
	for i, own := range m.owns {
		seen ^= m.hashes.touch(ev.Hashes[i].Uint64())
		if at.known {
			parent = fingerprint.Parent{Hash: fingerprint.Next(parent, own), Present: true}
			seen ^= m.contents.touch(tableKey(at.scope, parent.Hash))
		}
	}
	m.seen = seen
}

// fetchRemoved looks at the blocks of hashes that will be removed.
func (m *Mirror) fetchRemoved(hashes []kvevents.Hash) {
	if len(m.hashes.buckets) < fetched {
		return
	}
	for i := range hashes {
		f := m.hashes.find(hashes[i].Uint64())
		if at := f.next(); at != none {
			m.seen ^= uint64(m.at(at).hashLow)
		}
	}
}
