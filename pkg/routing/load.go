/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"math/bits"
	"time"

	"inferencecache.io/inference-cache/pkg/index"
)

// surveyAge bounds how long a survey is kept when nothing changes: statistics
// become stale by time alone.
const surveyAge = time.Second

// roster is what a survey has found. What the replicas have to do changes with their
// scrapes, every few seconds, and lookups come thousands of times in between.
type roster struct {
	// tenant, model, scheme and policy are what the survey was made for, standings
	// and at when that was.
	tenant, model, scheme string
	policy                *Policy
	standings             uint64
	at                    time.Time
	known                 index.Knowledge

	sessions []*index.Session
	// loads are those of sessions, in the same order.
	loads []load
	// slots finds a session's position, by its number.
	slots []int32
	// oldest is the time before which statistics were stale.
	oldest time.Time
	// round numbers the lookups, for marks that need not be taken off again.
	round uint64
}

// load is what a serving replica has to do besides.
type load struct {
	// queue is in milliseconds.
	queue float64
	// warm is the last round in which the replica held a part of the prompt.
	warm uint64
	// known is false when queue is the others' mean.
	known bool
	// trusted replicas have a stream that is alive.
	trusted bool
}

// surveyed reports whether the last survey is as good as a new one.
func (l *lookup) surveyed() bool {
	q, age := l.request, l.request.Now.Sub(l.at)
	return l.roster.policy == l.rules && l.standings == l.config.Index.Standings() && age >= 0 && age < surveyAge &&
		l.tenant == q.Tenant && l.model == q.Model && l.scheme == q.HashScheme
}

// survey looks at every replica that serves the model, once: what it has to do
// decides about matches and about the replicas that they are compared with.
func (l *lookup) survey() index.Knowledge {
	q, costs := l.request, &l.rules.Costs
	f := &l.roster
	f.tenant, f.model, f.scheme, f.policy, f.at = q.Tenant, q.Model, q.HashScheme, l.rules, q.Now
	f.standings = l.config.Index.Standings()
	f.oldest = q.Now.Add(-costs.StatsMaxAge)
	clear(f.sessions)
	f.sessions, f.known = l.config.Index.Serving(q.Tenant, q.Model, q.HashScheme, f.sessions[:0])
	f.loads = f.loads[:0]
	sum, known := 0.0, 0
	for _, s := range f.sessions {
		queue, ok := costs.queue(s.Stats(), f.oldest)
		if ok {
			sum += queue
			known++
		}
		f.loads = append(f.loads, load{queue: queue, known: ok, trusted: trusted(s.State())})
	}
	f.fillSlots()
	if known == 0 || known == len(f.loads) {
		return f.known
	}
	for i := range f.loads {
		if !f.loads[i].known {
			f.loads[i].queue = sum / float64(known)
		}
	}
	return f.known
}

// dropHits forgets the hits from a position on.
func (l *lookup) dropHits(from int) {
	clear(l.hits[from:])
	l.hits, l.places = l.hits[:from], l.places[:from]
}

// fillSlots makes the table from sessions to their positions. It is at most half
// full, and its size a power of two.
func (f *roster) fillSlots() {
	size := 1 << bits.Len(uint(2*len(f.sessions)))
	if cap(f.slots) < size {
		f.slots = make([]int32, size)
	}
	f.slots = f.slots[:size]
	clear(f.slots)
	mask := uint64(size - 1)
	for i, s := range f.sessions {
		at := s.ID() & mask
		for f.slots[at] != 0 {
			at = (at + 1) & mask
		}
		f.slots[at] = int32(i + 1)
	}
}

// find returns the position of a session, or -1.
func (f *roster) find(s *index.Session) int32 {
	mask := uint64(len(f.slots) - 1)
	for at := s.ID() & mask; f.slots[at] != 0; at = (at + 1) & mask {
		if i := f.slots[at] - 1; f.sessions[i] == s {
			return i
		}
	}
	return -1
}

// leastQueue is the shortest queue among the replicas that hold nothing, as far
// as their streams are alive. Where there are none it is that of the best one of
// all, as though it held nothing.
func (f *roster) leastQueue() float64 {
	least, rung := 0.0, worstRung+1
	for i := range f.loads {
		at := &f.loads[i]
		if r := at.rung(f.round); r < rung || (r == rung && at.queue < least) {
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

func (at *load) rung(round uint64) int {
	switch {
	case !at.trusted:
		return worstRung
	case at.warm == round:
		return warmRung
	}
	return coldRung
}

// trusted reports whether a holder's stream is alive and its state complete.
func trusted(s index.State) bool { return s != index.Suspect && s != index.Rebuilding }
