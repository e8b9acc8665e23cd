/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"cmp"
	"slices"
)

// ChainsTo returns the chains that end in a hash, from their first block on. A
// chain with an ancestor that no holder has is not among them.
func (x *Index) ChainsTo(tenant, model, scheme, adapter string, hash uint64) ([]Chain, Knowledge) {
	x.mu.Lock()
	defer x.mu.Unlock()
	schemes, known := x.schemes(tenant, model, scheme)
	var chains []Chain
	for _, s := range schemes {
		f := s.families.get(adapter)
		if f == nil {
			continue
		}
		for _, d := range f.directories.all() {
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
	var path []place
	for p.run != noRun {
		path = append(path, p)
		l := d.run(p.run).load()
		p = place{l.parent, l.parentOffset}
	}
	var hashes []uint64
	for _, step := range slices.Backward(path) {
		hashes = append(hashes, d.hashes(d.run(step.run).load())[:step.offset+1]...)
	}
	return hashes
}
