/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"cmp"
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
			h = x.cleared(h)
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
	d := x.directory(h.session.scheme, scope)
	u := h.unit(d, group)
	d.store(u, c, scope.Salted)
	if bit := c.mask(); bit&inferredMask != 0 {
		ttl := cmp.Or(d.family.tenant.limits.TTL, x.options.InferredTTL)
		deadline := now.Add(ttl)
		for _, hash := range c.Hashes {
			h.inferred.add(inferredBlock{inferredKey: inferredKey{u, hash, bit}, directory: d, deadline: deadline}, ttl/ttlMarks)
		}
	}
}

func (x *Index) remove(h *holding, c *Change) {
	scope, group := h.declared.scopes[c.ScopeID], h.declared.groups[c.GroupIndex]
	f := h.session.scheme.families.get(scope.Adapter)
	if f == nil {
		return
	}
	d := f.directory(scope.BlockSize)
	u, ok := h.units[unitKey{d, group.Index}]
	if !ok {
		return
	}
	bit := c.mask()
	for i, hash := range c.Hashes {
		if i%ahead == 0 {
			d.table.fetch(c.Hashes[i:])
		}
		d.remove(u, hash, bit)
		if bit&inferredMask != 0 {
			h.inferred.forget(inferredKey{u, hash, bit})
		}
	}
}

// cleared returns an empty holding in the place of one.
func (x *Index) cleared(h *holding) *holding {
	empty := newHolding(h.session)
	empty.declared, empty.confidence = h.declared, h.confidence
	empty.plans.set(h.plans.all())
	x.reshape(func() {
		h.session.current.CompareAndSwap(h, empty)
		x.dropHolding(h)
	})
	return empty
}

// dropHolding makes everything of a holding vanish. It costs the number of its
// groups; the memory is cleared up later.
func (x *Index) dropHolding(h *holding) {
	for d, s := range h.byDirectory {
		for _, u := range s.units {
			d.retire(u)
		}
		x.unswept[d] = struct{}{}
	}
	h.units, h.byDirectory = nil, nil
}

// Sweep budgets: a change clears up a few segments of the table, a call of Expire
// many more, so that an idle index is clean soon and a busy one stays bounded.
const (
	sweepPerChange = 2
	sweepPerExpire = 1 << 10
)

// sweep clears up behind holders that are gone, in so many steps.
func (x *Index) sweep(steps int) {
	for d := range x.unswept {
		more := true
		for ; more && steps > 0; steps-- {
			more, x.scratch = d.sweepSome(x.scratch)
		}
		if !more {
			delete(x.unswept, d)
			x.dropIfEmpty(d)
		}
		if steps == 0 {
			return
		}
	}
}
