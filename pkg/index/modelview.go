/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import "slices"

// ModelHolders returns the holders of a tenant's model, ordered by holder, and
// the number of distinct blocks that are known of it: a block that several
// holders have counts once. An empty tenant or model stands for all. It reads
// counters that are kept and never walks blocks.
func (x *Index) ModelHolders(tenant, model string) ([]HolderView, int64) {
	selected := func(t, m string) bool {
		return (tenant == "" || t == tenant) && (model == "" || m == model) && !x.HidesTenant(t)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	var views []HolderView
	for _, s := range x.sessions {
		if selected(s.hello.Tenant, s.hello.Model) {
			views = append(views, s.view())
		}
	}
	slices.SortFunc(views, func(a, b HolderView) int { return a.Holder.Compare(b.Holder) })
	var prefixes int64
	for _, t := range x.tenants.all() {
		for _, m := range t.models.all() {
			if selected(t.name, m.name) {
				prefixes += m.blocks()
			}
		}
	}
	return views, prefixes
}

// blocks counts the distinct blocks of a model.
func (m *model) blocks() (n int64) {
	for _, s := range m.schemes.all() {
		for f := range s.families.all {
			for _, d := range f.directories.all() {
				n += int64(d.table.count)
			}
		}
	}
	return n
}
