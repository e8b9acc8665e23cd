/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package baseline

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// requestKey names a block of a model.
type requestKey struct {
	model string
	hash  uint64
}

// podEntry is one replica's copy of a block, by the ordinals of its names.
type podEntry struct{ pod, tier uint16 }

// podSet has the copies of one block. Its lock lets lookups read it beside writers
// of other blocks.
type podSet struct {
	mu      sync.Mutex
	entries []podEntry
}

// keyEntry is one block in the list of a KeyWalk.
type keyEntry struct {
	key        requestKey
	pods       *podSet
	prev, next *keyEntry
}

// KeyWalk is an index of the form block → slice of replicas, in one list with the
// block used last in front. Make one with NewKeyWalk.
type KeyWalk struct {
	mu       sync.RWMutex
	capacity int
	keys     map[requestKey]*keyEntry
	// requests maps the names that engines give to blocks to keys.
	requests map[requestKey][]requestKey
	// list is the sentinel of the recency list; list.next was used last.
	list  keyEntry
	pods  map[string]uint16
	names []string
	walks sync.Pool
}

// NewKeyWalk returns an empty index that forgets the block used longest ago when
// it has more than capacity of them.
func NewKeyWalk(capacity int) *KeyWalk {
	w := &KeyWalk{
		capacity: capacity, keys: map[requestKey]*keyEntry{}, requests: map[requestKey][]requestKey{}, pods: map[string]uint16{},
		walks: sync.Pool{New: func() any { return &walk{} }},
	}
	w.list.prev, w.list.next = &w.list, &w.list
	return w
}

// Store adds blocks of a replica. engineKeys are the engine's names of them.
func (w *KeyWalk) Store(model, replica string, tier uint8, engineKeys, hashes []uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	pod, ok := w.pods[replica]
	if !ok {
		pod = uint16(len(w.names))
		w.pods[replica] = pod
		w.names = append(w.names, replica)
	}
	for i, hash := range hashes {
		key := requestKey{model, hash}
		w.requests[requestKey{model, engineKeys[i]}] = []requestKey{key}
		e := w.keys[key]
		if e == nil {
			e = &keyEntry{key: key, pods: &podSet{}}
			w.keys[key] = e
		} else {
			e.unlink()
		}
		w.list.follow(e)
		e.pods.add(podEntry{pod: pod, tier: uint16(tier)})
		if len(w.keys) > w.capacity {
			last := w.list.prev
			last.unlink()
			delete(w.keys, last.key)
		}
	}
}

// Lookup returns those of the candidates that have the first block of a chain,
// best first.
func (w *KeyWalk) Lookup(model string, chain []uint64, candidates []string) []Score {
	acc := w.walks.Get().(*walk)
	defer w.walks.Put(acc)
	scores := w.fold(model, chain, candidates, acc)
	w.promote(acc.found)
	slices.SortFunc(scores, compareScores)
	return scores
}

// fold walks the blocks of a chain as long as a replica has all of them.
func (w *KeyWalk) fold(model string, chain []uint64, candidates []string, acc *walk) []Score {
	w.mu.RLock()
	defer w.mu.RUnlock()
	acc.reset(len(w.names))
	for _, name := range candidates {
		if pod, ok := w.pods[name]; ok {
			acc.pods[pod].candidate = true
		}
	}
	for i, hash := range chain {
		e := w.keys[requestKey{model, hash}]
		if e == nil {
			break
		}
		acc.found = append(acc.found, e)
		if !acc.visit(int32(i), e.pods) {
			break
		}
	}
	scores := make([]Score, 0, len(acc.started))
	for _, pod := range acc.started {
		// The name is copied: the caller keeps it for longer than the index may.
		scores = append(scores, Score{Replica: strings.Clone(w.names[pod]), Blocks: int(acc.pods[pod].blocks), Value: acc.pods[pod].value})
	}
	return scores
}

// promote makes blocks the ones used last, once for all of a lookup.
func (w *KeyWalk) promote(found []*keyEntry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range found {
		if e.next == nil {
			continue // evicted in the meantime
		}
		e.unlink()
		w.list.follow(e)
	}
}

func (s *podSet) add(e podEntry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.entries, e) {
		s.entries = append(s.entries, e)
	}
}

func (e *keyEntry) unlink() {
	e.prev.next, e.next.prev = e.next, e.prev
	e.prev, e.next = nil, nil
}

// follow puts another entry behind e.
func (e *keyEntry) follow(other *keyEntry) {
	other.prev, other.next = e, e.next
	e.next.prev = other
	e.next = other
}

// compareScores orders by value, best first, and then by name.
func compareScores(a, b Score) int {
	return cmp.Or(cmp.Compare(b.Value, a.Value), strings.Compare(a.Replica, b.Replica))
}
