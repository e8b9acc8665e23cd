/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"sync/atomic"
	"time"

	"inferencecache.io/inference-cache/pkg/fingerprint"
)

// standing is what lookups read of a session while its writer changes it.
type standing struct {
	// id is a hash of the holder's name.
	id       uint64
	state    atomic.Uint32
	unsure   atomic.Bool
	sequence atomic.Uint64
	// lastEvent in nanoseconds since 1970, 0 for none.
	lastEvent atomic.Int64
	stats     atomic.Pointer[Stats]
}

// Holder names the engine rank.
func (s *Session) Holder() Holder { return s.hello.Holder }

// Backend is the CacheBackend that the holder belongs to.
func (s *Session) Backend() Backend { return s.hello.Backend }

// HashScheme of the holder's blocks.
func (s *Session) HashScheme() string { return s.hello.HashScheme }

// ID is a hash of the holder's name, the same in every index.
func (s *Session) ID() uint64 { return s.standing.id }

// State is the trust in what the index has of the holder.
func (s *Session) State() State { return State(s.standing.state.Load()) }

// Exact is false for a holder that has more than it could report, or than the
// index could keep.
func (s *Session) Exact() bool { return !s.standing.unsure.Load() }

// Sequence is the holder's last applied delta.
func (s *Session) Sequence() uint64 { return s.standing.sequence.Load() }

// LastEvent is the time of the newest engine event, zero for none.
func (s *Session) LastEvent() time.Time {
	if at := s.standing.lastEvent.Load(); at != 0 {
		return time.Unix(0, at).UTC()
	}
	return time.Time{}
}

// Stats is the last scrape of the engine's metrics; nil when there was none. It
// must not be changed.
func (s *Session) Stats() *Stats { return s.standing.stats.Load() }

// idOf hashes a holder's name with the field borders in it.
func idOf(h Holder) uint64 {
	return fingerprint.WithKeys(0, []fingerprint.Key{fingerprint.TextKey(h.Namespace), fingerprint.OffsetKey(h.Pod, int64(h.Rank))})
}

// current reports whether the index has all that a holder in this state has.
func (s State) current() bool { return s == Live || s == Degraded }

// changed shows readers what has become of a session. Every change ends with it.
func (x *Index) changed(s *Session) {
	state := s.stateNow()
	x.countStale(s, !state.current() && !x.hides(s))
	before := State(s.standing.state.Swap(uint32(state)))
	s.standing.sequence.Store(s.sequence)
	if !s.lastEvent.IsZero() {
		s.standing.lastEvent.Store(s.lastEvent.UnixNano())
	}
	if scraped := s.standing.stats.Swap(s.stats); scraped != s.stats || before != state {
		x.standings.Add(1)
	}
	x.version.Add(1)
}

// countStale keeps the number of sessions whose state the index does not have.
func (x *Index) countStale(s *Session, stale bool) {
	switch {
	case stale && !s.stale:
		x.stale.Add(1)
	case !stale && s.stale:
		x.stale.Add(-1)
	}
	s.stale = stale
}
