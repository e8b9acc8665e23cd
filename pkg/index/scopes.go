/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"cmp"
	"maps"
	"slices"
	"sync/atomic"
)

// published is a map that readers look into while its writer changes it: every
// change publishes another one. It suits maps that are small or change rarely.
type published[K comparable, V any] struct{ of atomic.Pointer[map[K]V] }

// all returns the map as it is now. It must not be changed.
func (p *published[K, V]) all() map[K]V {
	if m := p.of.Load(); m != nil {
		return *m
	}
	return nil
}

// get returns the value of a key, the zero value for none.
func (p *published[K, V]) get(k K) V { return p.all()[k] }

func (p *published[K, V]) set(k K, v V) {
	m := maps.Clone(p.all())
	if m == nil {
		m = map[K]V{}
	}
	m[k] = v
	p.of.Store(&m)
}

func (p *published[K, V]) remove(k K) {
	m := maps.Clone(p.all())
	delete(m, k)
	p.of.Store(&m)
}

// adapters are the families of a scheme by adapter: thousands, where each engine
// loads its own. They are shared among several maps, so that another one costs little.
type adapters struct {
	shards [64]published[string, *family]
}

func (a *adapters) shard(name string) *published[string, *family] {
	hash := uint32(2166136261) // FNV-1a
	for i := range len(name) {
		hash = (hash ^ uint32(name[i])) * 16777619
	}
	return &a.shards[hash%uint32(len(a.shards))]
}

func (a *adapters) get(name string) *family { return a.shard(name).get(name) }

func (a *adapters) set(name string, f *family) { a.shard(name).set(name, f) }

func (a *adapters) remove(name string) { a.shard(name).remove(name) }

// all calls yield for every family.
func (a *adapters) all(yield func(*family) bool) {
	for i := range a.shards {
		for _, f := range a.shards[i].all() {
			if !yield(f) {
				return
			}
		}
	}
}

// publishedList is a slice that readers look into while its writer changes it.
type publishedList[T any] struct{ of atomic.Pointer[[]T] }

// all returns the slice as it is now. It must not be changed.
func (p *publishedList[T]) all() []T {
	if s := p.of.Load(); s != nil {
		return *s
	}
	return nil
}

func (p *publishedList[T]) set(s []T) { p.of.Store(&s) }

// insert puts an element where compare says it belongs, unless it is there.
func (p *publishedList[T]) insert(e T, compare func(a, b T) int) {
	if i, found := slices.BinarySearchFunc(p.all(), e, compare); !found {
		p.set(slices.Insert(slices.Clone(p.all()), i, e))
	}
}

func (p *publishedList[T]) delete(e T, compare func(a, b T) int) {
	if i, found := slices.BinarySearchFunc(p.all(), e, compare); found {
		p.set(slices.Delete(slices.Clone(p.all()), i, i+1))
	}
}

// tenant, model, scheme and family are the levels of a block's identity, of which
// a directory is the last.
type tenant struct {
	name   string
	models published[string, *model]
	// blocks counts the distinct blocks of the tenant.
	blocks int64
	limits TenantLimits
	order  order
	marks  []mark
}

type model struct {
	name    string
	tenant  *tenant
	schemes publishedList[*scheme]
}

type scheme struct {
	name     string
	model    *model
	families adapters
	// sessions are ordered by holder; unsure are those that have more than the
	// index knows.
	sessions, unsure publishedList[*Session]
}

// family has the blocks of one adapter in one directory per size that its engines
// really use.
type family struct {
	adapter     string
	scheme      *scheme
	tenant      *tenant
	directories publishedList[*directory]
	// sizes are their block sizes.
	sizes publishedList[uint32]
}

// directory returns the directory of a block size, nil for none.
func (f *family) directory(blockSize uint32) *directory {
	for _, d := range f.directories.all() {
		if d.blockSize == blockSize {
			return d
		}
	}
	return nil
}

func bySize(a, b *directory) int { return cmp.Compare(a.blockSize, b.blockSize) }

func bySchemeName(a, b *scheme) int { return cmp.Compare(a.name, b.name) }

func byHolder(a, b *Session) int { return a.hello.Holder.Compare(b.hello.Holder) }

// scheme returns the scheme of a name, nil for none.
func (m *model) scheme(name string) *scheme {
	for _, s := range m.schemes.all() {
		if s.name == name {
			return s
		}
	}
	return nil
}

// makeScheme returns the scheme of a hello, made on first use.
func (x *Index) makeScheme(h *Hello) *scheme {
	t := x.tenants.get(h.Tenant)
	if t == nil {
		t = &tenant{name: h.Tenant, order: newOrder()}
		t.limit(noLimits)
		if l, ok := x.limits[h.Tenant]; ok {
			t.limit(l)
		}
		x.tenants.set(h.Tenant, t)
	}
	m := t.models.get(h.Model)
	if m == nil {
		m = &model{name: h.Model, tenant: t}
		t.models.set(h.Model, m)
	}
	s := m.scheme(h.HashScheme)
	if s == nil {
		s = &scheme{name: h.HashScheme, model: m}
		m.schemes.insert(s, bySchemeName)
	}
	return s
}

// dropScheme forgets a scheme that nobody reports for, and what it leaves empty.
// Directories in it that are not swept yet live on until they are.
func (x *Index) dropScheme(s *scheme) {
	if len(s.sessions.all()) > 0 {
		return
	}
	m := s.model
	m.schemes.delete(s, bySchemeName)
	if len(m.schemes.all()) > 0 {
		return
	}
	t := m.tenant
	t.models.remove(m.name)
	if len(t.models.all()) == 0 {
		x.tenants.remove(t.name)
	}
}

// directory returns the directory of a scope, made on first use.
func (x *Index) directory(s *scheme, scope Scope) *directory {
	f := s.families.get(scope.Adapter)
	if f == nil {
		f = &family{adapter: scope.Adapter, scheme: s, tenant: s.model.tenant}
		s.families.set(scope.Adapter, f)
	}
	d := f.directory(scope.BlockSize)
	if d == nil {
		d = newDirectory(x, f, scope.BlockSize)
		d.number = x.numberDirectory(d)
		f.directories.insert(d, bySize)
		f.sizes.insert(d.blockSize, cmp.Compare)
	}
	return d
}

// numberDirectory gives a directory the number by which its runs name it.
func (x *Index) numberDirectory(d *directory) uint32 {
	if n := len(x.freeDirectories); n > 0 {
		number := x.freeDirectories[n-1]
		x.freeDirectories = x.freeDirectories[:n-1]
		x.directories[number] = d
		return number
	}
	x.directories = append(x.directories, d)
	return uint32(len(x.directories) - 1)
}

// dropIfEmpty forgets a directory that no unit uses.
func (x *Index) dropIfEmpty(d *directory) {
	if len(d.freeUnits) < int(d.unitCount) || d.table.count > 0 {
		return
	}
	f := d.family
	d.table.release()
	x.directories[d.number] = nil
	x.freeDirectories = append(x.freeDirectories, d.number)
	f.directories.delete(d, bySize)
	f.sizes.delete(d.blockSize, cmp.Compare)
	if len(f.directories.all()) == 0 {
		f.scheme.families.remove(f.adapter)
	}
}
