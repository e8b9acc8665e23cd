/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"math/bits"

	"inferencecache.io/inference-cache/pkg/index"
)

// load is what a serving replica has to do besides.
type load struct {
	// queue is in milliseconds.
	queue float64
	// known is false when queue is the others' mean.
	known bool
	// trusted replicas have a stream that is alive.
	trusted bool
	// warm replicas hold a part of the prompt.
	warm bool
}

// survey looks at every replica that serves the model, once: what it has to do
// decides about matches and about the replicas that they are compared with.
func (l *lookup) survey() {
	costs := &l.policy.Costs
	l.oldest = l.request.Now.Add(-costs.StatsMaxAge)
	l.loads = l.loads[:0]
	sum, known := 0.0, 0
	for _, s := range l.sessions {
		queue, ok := costs.queue(s.Stats(), l.oldest)
		if ok {
			sum += queue
			known++
		}
		l.loads = append(l.loads, load{queue: queue, known: ok, trusted: trusted(s.State())})
	}
	if known == 0 || known == len(l.loads) {
		return
	}
	mean := sum / float64(known)
	for i := range l.loads {
		if !l.loads[i].known {
			l.loads[i].queue = mean
		}
	}
}

// dropHits forgets the hits from a position on.
func (l *lookup) dropHits(from int) {
	clear(l.hits[from:])
	l.hits, l.places = l.hits[:from], l.places[:from]
}

// fillSlots makes the table from sessions to their positions and returns the
// mask of its slots. It is at most half full.
func (l *lookup) fillSlots() uint64 {
	size := 1 << bits.Len(uint(2*len(l.sessions)))
	if cap(l.slots) < size {
		l.slots = make([]int32, size)
	}
	l.slots = l.slots[:size]
	clear(l.slots)
	mask := uint64(size - 1)
	for i, s := range l.sessions {
		at := s.ID() & mask
		for l.slots[at] != 0 {
			at = (at + 1) & mask
		}
		l.slots[at] = int32(i + 1)
	}
	return mask
}

func (l *lookup) find(s *index.Session, mask uint64) int32 {
	for at := s.ID() & mask; l.slots[at] != 0; at = (at + 1) & mask {
		if i := l.slots[at] - 1; l.sessions[i] == s {
			return i
		}
	}
	return -1
}

// leastQueue is the shortest queue among the replicas that hold nothing, as far
// as their streams are alive. Where there are none it is that of the best one of
// all, as though it held nothing.
func (l *lookup) leastQueue() float64 {
	least, rung := 0.0, worstRung+1
	for i := range l.loads {
		at := &l.loads[i]
		if r := at.rung(); r < rung || (r == rung && at.queue < least) {
			least, rung = at.queue, r
		}
	}
	return least
}

// The rungs of what matches are compared with, the preferred one first.
const (
	coldRung = iota
	warmRung
	worstRung
)

func (at *load) rung() int {
	switch {
	case !at.trusted:
		return worstRung
	case at.warm:
		return warmRung
	}
	return coldRung
}

// trusted reports whether a holder's stream is alive and its state complete.
func trusted(s index.State) bool { return s != index.Suspect && s != index.Rebuilding }
