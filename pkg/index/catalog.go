/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"cmp"
	"maps"
	"slices"
)

// catalog says which sessions serve which tenant, model and hash scheme.
type catalog map[string]map[string]map[string]map[*Session]struct{}

func (c catalog) add(s *Session) {
	h := s.hello
	if c[h.Tenant] == nil {
		c[h.Tenant] = map[string]map[string]map[*Session]struct{}{}
	}
	models := c[h.Tenant]
	if models[h.Model] == nil {
		models[h.Model] = map[string]map[*Session]struct{}{}
	}
	schemes := models[h.Model]
	if schemes[h.HashScheme] == nil {
		schemes[h.HashScheme] = map[*Session]struct{}{}
	}
	schemes[h.HashScheme][s] = struct{}{}
}

func (c catalog) remove(s *Session) {
	h := s.hello
	models := c[h.Tenant]
	schemes := models[h.Model]
	delete(schemes[h.HashScheme], s)
	if len(schemes[h.HashScheme]) == 0 {
		delete(schemes, h.HashScheme)
	}
	if len(schemes) == 0 {
		delete(models, h.Model)
	}
	if len(models) == 0 {
		delete(c, h.Tenant)
	}
}

// Knowledge says how much of a question's scope the index has heard of.
type Knowledge uint8

// The levels of knowledge, outermost first.
const (
	// Empty means that no holder is known at all.
	Empty Knowledge = iota
	// UnknownTenant means that no holder reports for the tenant.
	UnknownTenant
	// UnknownModel means that none of the tenant's holders serves the model.
	UnknownModel
	// UnknownHashScheme means that none of the model's holders uses the scheme.
	UnknownHashScheme
	// Known means that some holder could answer.
	Known
)

// schemes returns the hash schemes that a question may be about, in order.
func (c catalog) schemes(tenant, model, scheme string) ([]string, Knowledge) {
	if len(c) == 0 {
		return nil, Empty
	}
	models, ok := c[tenant]
	if !ok {
		return nil, UnknownTenant
	}
	schemes, ok := models[model]
	if !ok {
		return nil, UnknownModel
	}
	if scheme == "" {
		return slices.Sorted(maps.Keys(schemes)), Known
	}
	if _, ok := schemes[scheme]; !ok {
		return nil, UnknownHashScheme
	}
	return []string{scheme}, Known
}

// Serving appends the sessions of a model's holders, ordered by holder. An empty
// scheme means all of them.
func (x *Index) Serving(tenant, model, scheme string, dst []*Session) ([]*Session, Knowledge) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	schemes, known := x.catalog.schemes(tenant, model, scheme)
	start := len(dst)
	for _, name := range schemes {
		dst = slices.AppendSeq(dst, maps.Keys(x.catalog[tenant][model][name]))
	}
	slices.SortFunc(dst[start:], func(a, b *Session) int { return a.hello.Holder.Compare(b.hello.Holder) })
	return dst, known
}

// BlockSizes returns the block sizes in which a model's prefixes are held,
// smallest first, and how much of the scope is known.
func (x *Index) BlockSizes(tenant, model, scheme, adapter string) ([]uint32, Knowledge) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	schemes, known := x.catalog.schemes(tenant, model, scheme)
	var sizes []uint32
	for _, name := range schemes {
		if f, ok := x.families[familyKey{tenant, model, name, adapter}]; ok {
			sizes = slices.AppendSeq(sizes, maps.Keys(f.directories))
		}
	}
	slices.Sort(sizes)
	return slices.Compact(sizes), known
}

// ChainsTo returns the chains that end in a hash, from their first block on. A
// chain with an ancestor that no holder has is not among them.
func (x *Index) ChainsTo(tenant, model, scheme, adapter string, hash uint64) ([]Chain, Knowledge) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	schemes, known := x.catalog.schemes(tenant, model, scheme)
	var chains []Chain
	for _, name := range schemes {
		f := x.families[familyKey{tenant, model, name, adapter}]
		if f == nil {
			continue
		}
		for _, d := range f.directories {
			if hashes := d.climb(hash); hashes != nil {
				chains = append(chains, Chain{BlockSize: d.blockSize, Hashes: hashes})
			}
		}
	}
	slices.SortFunc(chains, func(a, b Chain) int { return cmp.Compare(a.BlockSize, b.BlockSize) })
	return chains, known
}

// climb follows parents from a block to the start of its chain.
func (d *directory) climb(hash uint64) []uint64 {
	p, found := d.table.find(hash)
	if !found || !d.isAnchored(p.run) {
		return nil
	}
	path := d.path(p, nil)
	var hashes []uint64
	for _, step := range slices.Backward(path) {
		hashes = append(hashes, d.hashes(d.run(step.run))[:step.offset+1]...)
	}
	return hashes
}

// path returns the places at which a chain leaves its runs, deepest first.
func (d *directory) path(p place, path []place) []place {
	for {
		path = append(path, p)
		r := d.run(p.run)
		if r.parent == noRun {
			return path
		}
		p = place{r.parent, r.parentOffset}
	}
}
