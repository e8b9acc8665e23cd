/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"cmp"
	"maps"
	"runtime"
	"slices"
)

// ItemKey orders the items of a listing; it is also where a listing goes on.
type ItemKey struct {
	Model, HashScheme, Adapter string
	BlockSize                  uint32
	Hash                       uint64
}

// Compare orders keys by model, scheme, adapter, block size and hash.
func (k ItemKey) Compare(o ItemKey) int {
	return cmp.Or(cmp.Compare(k.Model, o.Model), cmp.Compare(k.HashScheme, o.HashScheme),
		cmp.Compare(k.Adapter, o.Adapter), cmp.Compare(k.BlockSize, o.BlockSize), cmp.Compare(k.Hash, o.Hash))
}

// Item is one prefix that a backend's holders have, named by its last block.
type Item struct {
	ItemKey
	Salted bool
	// Tokens of the prefix from the start of the prompt.
	Tokens int64
	// Holders by the nearest tier in which each has the last block, ordered by holder.
	Holders map[Tier][]Holder
}

// ListQuery selects the items of one page.
type ListQuery struct {
	Backend Backend
	// Model and Tier restrict the listing; empty and 0 mean all.
	Model string
	Tier  Tier
	// After is the last key of the page before; nil starts from the first item.
	After *ItemKey
	// Limit is the largest number of items; it must be positive.
	Limit int
}

// listSegments is how many segments of a table a listing reads before it lets the
// writer go on. A page is rarely longer; one with a tier that few blocks are in is.
const listSegments = 8

// List returns the next items of a backend in the order of their keys, and
// whether there are more. A page costs what it returns and, with a tier, what it
// skips; never what the backend has. What it reads of a few thousand blocks was
// so at one moment.
func (x *Index) List(q ListQuery) ([]Item, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	segments := 0
	rest := func() {
		if segments++; segments%listSegments == 0 {
			x.mu.Unlock()
			runtime.Gosched()
			x.mu.Lock()
		}
	}
	var items []Item
	for _, l := range x.lists(q) {
		if q.After != nil && l.key.Compare(q.After.directory()) < 0 {
			continue
		}
		var after *uint64
		if q.After != nil && l.key == q.After.directory() {
			after = &q.After.Hash
		}
		if !l.page(q.Tier, after, rest, func(it Item) bool {
			items = append(items, it)
			return len(items) <= q.Limit
		}) {
			return items[:q.Limit], true
		}
	}
	return items, false
}

// directory is the key without its hash.
func (k ItemKey) directory() ItemKey {
	k.Hash = 0
	return k
}

// list is what one backend's holders have in one directory.
type list struct {
	key       ItemKey
	directory *directory
	shelves   []*shelf
}

func (x *Index) lists(q ListQuery) []*list {
	lists := map[*directory]*list{}
	for s := range x.byBackend[q.Backend] {
		if q.Model != "" && s.hello.Model != q.Model {
			continue
		}
		for d, sh := range s.current.Load().byDirectory {
			l := lists[d]
			if l == nil {
				f := d.family
				l = &list{key: ItemKey{Model: f.scheme.model.name, HashScheme: f.scheme.name, Adapter: f.adapter, BlockSize: d.blockSize}, directory: d}
				lists[d] = l
			}
			l.shelves = append(l.shelves, sh)
		}
	}
	return slices.SortedFunc(maps.Values(lists), func(a, b *list) int { return a.key.Compare(b.key) })
}

// page calls yield for each item after a hash, in the order of the hashes, until
// yield wants no more. It reads the table segment by segment, with a rest after each.
func (l *list) page(tier Tier, after *uint64, rest func(), yield func(Item) bool) bool {
	from := uint64(0)
	if after != nil {
		if *after == ^uint64(0) {
			return true
		}
		from = *after + 1
	}
	for {
		l.shelves = slices.DeleteFunc(l.shelves, (*shelf).gone)
		segment, last := l.directory.table.next(from)
		for _, hash := range l.hashes(segment, from) {
			if it, ok := l.item(hash, tier); ok && !yield(it) {
				return false
			}
		}
		if last == ^uint64(0) {
			return true
		}
		from = last + 1
		rest()
	}
}

// hashes returns the hashes of a segment from one on, in order.
func (l *list) hashes(s *segment, from uint64) []uint64 {
	var hashes []uint64
	for _, slot := range s.slots {
		if slot == 0 {
			continue
		}
		if hash := l.directory.table.hashAt(placeOf(slot)); hash >= from {
			hashes = append(hashes, hash)
		}
	}
	slices.Sort(hashes)
	return hashes
}

// item describes one block; ok is false when no holder of the backend has it in the tier.
func (l *list) item(hash uint64, tier Tier) (Item, bool) {
	d := l.directory
	p, found := d.table.find(hash)
	if !found {
		return Item{}, false
	}
	r := d.run(p.run).load()
	it := Item{
		ItemKey: l.key, Salted: r.salted, Holders: map[Tier][]Holder{},
		Tokens: (int64(r.depth) + int64(p.offset) + 1) * int64(d.blockSize),
	}
	it.Hash = hash
	for _, s := range l.shelves {
		mask := s.mask(d, p)
		best := bestTier(mask)
		if tierBits(mask) == 0 || (tier != 0 && best != tier) {
			continue
		}
		session := s.units[0].holding.session
		it.Holders[best] = append(it.Holders[best], session.hello.Holder)
	}
	for _, holders := range it.Holders {
		slices.SortFunc(holders, Holder.Compare)
	}
	return it, len(it.Holders) > 0
}
