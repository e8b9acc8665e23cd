/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"fmt"
	"time"
)

// check refuses changes of which any is invalid and returns the declarations
// that hold after them. Nothing is applied.
func check(declared *declarations, changes []Change) (*declarations, error) {
	after := declared
	for i := range changes {
		c := &changes[i]
		if after == declared && (c.Op == DeclareScope || c.Op == DeclareGroup) {
			after = declared.clone()
		}
		if err := c.check(after); err != nil {
			return nil, fmt.Errorf("change %d: %w", i, err)
		}
	}
	return after, nil
}

// apply carries out checked changes on a holding. It returns the holding that
// stands after them, which is another one after a Clear.
func (x *Index) apply(h *holding, changes []Change, now time.Time) *holding {
	for i := range changes {
		c := &changes[i]
		switch c.Op {
		case Store:
			x.store(h, c, now)
		case Remove:
			x.remove(h, c)
		case Clear:
			declared, confidence := h.declared, h.confidence
			x.dropHolding(h)
			h = newHolding(h.session, h.staged)
			h.declared, h.confidence = declared, confidence
		case SetConfidence:
			h.confidence = c.Confidence
		case DeclareScope, DeclareGroup:
			// Already in the declarations that check returned.
		}
	}
	return h
}

func (x *Index) store(h *holding, c *Change, now time.Time) {
	if len(c.Hashes) == 0 {
		return
	}
	scope, group := h.declared.scopes[c.ScopeID], h.declared.groups[c.GroupIndex]
	d := x.directory(h.session.hello, scope)
	u := h.unit(d, group)
	bit := c.mask()
	parent, hasParent := c.Parent, c.HasParent
	for i, hash := range c.Hashes {
		b := d.add(hash, parent, hasParent, c.Depth+uint32(i))
		h.set(d, u, b, bit, true, scope.Salted)
		if bit&inferredMask != 0 {
			h.inferred.add(inferredBlock{inferredKey: inferredKey{u, hash, bit}, directory: d, deadline: now.Add(x.options.InferredTTL)})
		}
		parent, hasParent = hash, true
	}
}

func (x *Index) remove(h *holding, c *Change) {
	scope, group := h.declared.scopes[c.ScopeID], h.declared.groups[c.GroupIndex]
	d := x.findDirectory(h.session.hello, scope)
	if d == nil {
		return
	}
	u, ok := h.units[unitKey{d, group.Index}]
	if !ok {
		return
	}
	bit := c.mask()
	for _, hash := range c.Hashes {
		if b := d.find(hash); b != nil {
			h.set(d, u, b, bit, false, scope.Salted)
		}
		if bit&inferredMask != 0 {
			h.inferred.forget(inferredKey{u, hash, bit})
		}
	}
}

// dropHolding takes everything of a holding out of its directories.
func (x *Index) dropHolding(h *holding) {
	for d, s := range h.byDirectory {
		for _, u := range s.units {
			dropBlocks(d, u, s)
			if h.declared.groups[u.group].Kind != FullGroup {
				d.partial--
			}
			d.dropUnit(u)
		}
		x.dropIfEmpty(d)
	}
	h.units, h.byDirectory = nil, nil
}

// dropBlocks takes a unit out of all of its blocks.
func dropBlocks(d *directory, u *unit, s *shelf) {
	s.hashes.Scan(func(hash uint64) bool {
		b := d.find(hash)
		if b == nil {
			return true
		}
		if i, ok := b.position(u.number); ok {
			b.residencies = append(b.residencies[:i], b.residencies[i+1:]...)
		}
		if len(b.residencies) == 0 {
			d.drop(b)
		}
		return true
	})
}

// directory returns the directory of a scope, made on first use.
func (x *Index) directory(hello Hello, s Scope) *directory {
	key := familyKey{hello.Tenant, hello.Model, hello.HashScheme, s.Adapter}
	f, ok := x.families[key]
	if !ok {
		f = &family{key: key, directories: map[uint32]*directory{}}
		x.families[key] = f
	}
	d, ok := f.directories[s.BlockSize]
	if !ok {
		d = newDirectory(f, s.BlockSize)
		f.directories[s.BlockSize] = d
	}
	return d
}

func (x *Index) findDirectory(hello Hello, s Scope) *directory {
	f, ok := x.families[familyKey{hello.Tenant, hello.Model, hello.HashScheme, s.Adapter}]
	if !ok {
		return nil
	}
	return f.directories[s.BlockSize]
}

// dropIfEmpty forgets a directory that no unit uses.
func (x *Index) dropIfEmpty(d *directory) {
	if len(d.freeUnits) < len(d.units) {
		return
	}
	delete(d.family.directories, d.blockSize)
	if len(d.family.directories) == 0 {
		delete(x.families, d.family.key)
	}
}
