/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"cmp"
	"slices"
	"time"
)

// HolderView is what the index knows of one holder, from kept counters.
type HolderView struct {
	Holder     Holder
	Backend    Backend
	Tenant     string
	Model      string
	HashScheme string
	Engine     string
	State      State
	Epoch      uint64
	Sequence   uint64
	// FirstEvent and LastEvent are zero until the engine has announced something.
	FirstEvent, LastEvent time.Time
	Groups                []Group
	Confidence            Confidence
	// Prefixes counts distinct blocks, Blocks the same by tier (T1, T2, T3).
	Prefixes int64
	Blocks   [3]int64
	Stats    *Stats
	Scopes   []ScopeView
	// ClientVersion of the sidecar.
	ClientVersion string
	// Forgotten counts blocks that did not fit the index's memory, the tenant's
	// quota or its TTL, and that the holder may still have.
	Forgotten int64
	// Duplicates and Gaps count deltas that were ignored and holes that were met.
	Duplicates, Gaps uint64
}

// Exact reports whether lookups on this holder can be exact at all.
func (v *HolderView) Exact() bool {
	if v.Confidence.Conflicts > 0 || v.Confidence.Unresolved > 0 || v.Forgotten > 0 || v.Confidence.unsure() {
		return false
	}
	return !slices.ContainsFunc(v.Groups, Group.unsure)
}

// ScopeView counts the blocks of one scope of a holder.
type ScopeView struct {
	Scope
	Blocks int64
}

// Compare orders scopes by adapter, block size and salt.
func (s ScopeView) Compare(o ScopeView) int {
	salted := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(s.Adapter, o.Adapter), cmp.Compare(s.BlockSize, o.BlockSize), cmp.Compare(salted(s.Salted), salted(o.Salted)))
}

// BackendHolders returns the holders of a backend, ordered by holder, and whether
// the index has all of their state.
func (x *Index) BackendHolders(b Backend, now time.Time) ([]HolderView, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	of := x.byBackend[b]
	views := make([]HolderView, 0, len(of))
	complete := x.warm(now)
	for s := range of {
		v := s.view()
		complete = complete && v.State.current()
		views = append(views, v)
	}
	slices.SortFunc(views, func(a, b HolderView) int { return a.Holder.Compare(b.Holder) })
	return views, complete
}

// Holders returns every holder, ordered by holder, and whether the index has all
// of their state.
func (x *Index) Holders(now time.Time) ([]HolderView, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	views := make([]HolderView, 0, len(x.sessions))
	for _, s := range x.sessions {
		if !x.hides(s) {
			views = append(views, s.view())
		}
	}
	slices.SortFunc(views, func(a, b HolderView) int { return a.Holder.Compare(b.Holder) })
	return views, x.Complete(now)
}

// Prefixes returns the number of distinct blocks by tenant: a block that several
// holders have counts once, and so does one that is kept for what continues it.
func (x *Index) Prefixes() map[string]int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	counts := map[string]int64{}
	for name, t := range x.tenants.all() {
		if t.blocks > 0 && !x.HidesTenant(name) {
			counts[name] = t.blocks
		}
	}
	return counts
}

func (s *Session) view() HolderView {
	h, held := s.newest, s.current.Load()
	v := HolderView{
		Holder: h.Holder, Backend: h.Backend, Tenant: h.Tenant, Model: h.Model, HashScheme: h.HashScheme,
		Engine: h.Engine, State: s.stateNow(), Epoch: h.Epoch, Sequence: s.sequence,
		FirstEvent: s.firstEvent, LastEvent: s.lastEvent, Groups: held.declared.sortedGroups(),
		Confidence: held.confidence, Prefixes: held.prefixes, Blocks: held.blocks,
		Stats: s.stats, ClientVersion: h.ClientVersion, Forgotten: held.forgotten, Duplicates: s.duplicates, Gaps: s.gaps,
	}
	for d, sh := range held.byDirectory {
		v.addScope(d, false, sh.blocks-sh.salted)
		v.addScope(d, true, sh.salted)
	}
	slices.SortFunc(v.Scopes, ScopeView.Compare)
	return v
}

func (v *HolderView) addScope(d *directory, salted bool, blocks int64) {
	if blocks > 0 {
		v.Scopes = append(v.Scopes, ScopeView{Scope{Adapter: d.family.adapter, BlockSize: d.blockSize, Salted: salted}, blocks})
	}
}
