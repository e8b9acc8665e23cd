/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import "slices"

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
func (x *Index) schemes(tenant, model, name string) ([]*scheme, Knowledge) {
	if len(x.tenants.all()) == 0 {
		return nil, Empty
	}
	t := x.tenants.get(tenant)
	if t == nil {
		return nil, UnknownTenant
	}
	m := t.models.get(model)
	if m == nil {
		return nil, UnknownModel
	}
	all := m.schemes.all()
	if name == "" {
		return all, Known
	}
	for i, s := range all {
		if s.name == name {
			return all[i : i+1], Known
		}
	}
	return nil, UnknownHashScheme
}

// Serving appends the sessions of a model's holders, ordered by holder. An empty
// scheme means all of them. It takes no lock.
func (x *Index) Serving(tenant, model, scheme string, dst []*Session) ([]*Session, Knowledge) {
	schemes, known := x.schemes(tenant, model, scheme)
	start := len(dst)
	for _, s := range schemes {
		dst = append(dst, s.sessions.all()...)
	}
	if len(schemes) > 1 {
		slices.SortFunc(dst[start:], byHolder)
	}
	return dst, known
}

// BlockSizes returns the block sizes in which a model's prefixes are held,
// smallest first, and says how much of the scope is known. The slice must not be
// changed. It takes no lock.
func (x *Index) BlockSizes(tenant, model, scheme, adapter string) ([]uint32, Knowledge) {
	schemes, known := x.schemes(tenant, model, scheme)
	var sizes []uint32
	for _, s := range schemes {
		f := s.families.get(adapter)
		if f == nil {
			continue
		}
		of := f.sizes.all()
		if len(sizes) > 0 {
			of = slices.Concat(sizes, of)
			slices.Sort(of)
			of = slices.Compact(of)
		}
		sizes = of
	}
	return sizes, known
}
