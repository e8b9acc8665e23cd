/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"slices"
	"sync/atomic"
)

// What readers take from the arena while the writer changes it. Whatever they are
// told, they see only memory of the pool, and whether it belongs together.

// peek returns the hash at a place. It is not steady when the run has changed
// meanwhile.
func (a *arena) peek(p place) (hash uint64, steady bool) {
	r := a.run(p.run)
	version := r.version.Load()
	words := a.words.rest(uint32(r.spans.Load() >> 32))
	if version%2 != 0 || int(p.offset) >= len(words) {
		return 0, false
	}
	hash = atomic.LoadUint64(&words[p.offset])
	return hash, r.version.Load() == version
}

// glance returns the layout of a run and the version it belongs to.
func (a *arena) glance(number uint32) (l layout, version uint32, steady bool) {
	r := a.run(number)
	version = r.version.Load()
	l = r.load()
	return l, version, version%2 == 0 && r.version.Load() == version
}

// copyList copies the intervals of a run with a layout that was seen at a version
// over dst.
func (a *arena) copyList(dst []interval, number uint32, l layout, version uint32) ([]interval, bool) {
	list := a.list(l)
	dst = slices.Grow(dst[:0], len(list))[:len(list)]
	for i := range list {
		dst[i] = atomic.LoadUint64(&list[i])
	}
	return dst, a.run(number).version.Load() == version
}
