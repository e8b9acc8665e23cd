/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"
)

// Stream is one connection of a holder. A newer one supersedes it.
type Stream uint64

// maxNumber is the largest epoch and sequence: the API shows both as int64.
const maxNumber = math.MaxInt64

// Errors of sessions. An invalid change is neither of them.
var (
	// ErrSuperseded means that the holder has opened a newer stream.
	ErrSuperseded = errors.New("superseded by a newer stream of the same holder")
	// ErrStaleEpoch means that the holder is known with a newer epoch.
	ErrStaleEpoch = errors.New("a newer epoch of this holder is known")
)

// Session is a holder with its epoch and sequence. Its exported methods take no
// lock and are safe for concurrent use.
type Session struct {
	current  atomic.Pointer[holding]
	standing standing
	// hello names the session; current is the newest one, which differs in what
	// does not name it.
	hello  Hello
	newest Hello
	scheme *scheme
	// number is small and no other session's of its time.
	number uint32
	// stale sessions count as such in the index.
	stale     bool
	stream    Stream
	connected bool
	leaseEnd  time.Time
	// sequence is the last applied delta.
	sequence uint64
	// target is the sequence at which a new stream has caught up.
	target uint64
	// awaiting a snapshot: deltas are not applied. Since when is noted by Expire.
	awaiting      bool
	awaitingSince time.Time
	// fresh sessions have had nothing applied in this epoch.
	fresh      bool
	staged     *staging
	stats      *Stats
	firstEvent time.Time
	lastEvent  time.Time
	duplicates uint64
	gaps       uint64
}

// staging is a snapshot on its way in.
type staging struct {
	holding   *holding
	sequence  uint64
	nextChunk uint32
}

// OpenReply says how a session goes on.
type OpenReply struct {
	// SnapshotWanted asks for a snapshot; otherwise deltas are wanted from ResumeFrom on.
	SnapshotWanted bool
	ResumeFrom     uint64
}

// Outcome is what became of a delta.
type Outcome uint8

// The outcomes of a delta.
const (
	// Applied deltas are visible.
	Applied Outcome = iota
	// Duplicate deltas were applied before.
	Duplicate
	// Gap means that deltas are missing before this one: ask for a snapshot once.
	Gap
	// Ignored deltas came while a snapshot is awaited.
	Ignored
)

// stateNow is the state that follows from what the writer knows.
func (s *Session) stateNow() State {
	switch {
	case !s.connected:
		return Suspect
	case s.awaiting, s.fresh && s.sequence < s.target, s.staged != nil && s.fresh:
		return Rebuilding
	case s.sequence < s.target:
		return Suspect
	case s.current.Load().confidence.Degraded != "" || s.current.Load().forgotten > 0:
		return Degraded
	}
	return Live
}

// withholds reports whether the session has been asked for a snapshot for too long.
func (s *Session) withholds(now time.Time, patience time.Duration) bool {
	switch {
	case !s.awaiting:
		s.awaitingSince = time.Time{}
	case s.awaitingSince.IsZero():
		s.awaitingSince = now
	}
	return s.awaiting && !now.Before(s.awaitingSince.Add(patience))
}

// Open starts a stream for a holder. It ends an older stream of the same holder.
// The error is ErrStaleEpoch or says what is wrong with the hello.
func (x *Index) Open(h Hello, now time.Time) (Stream, OpenReply, error) {
	if h.Holder.Pod == "" || h.Tenant == "" || h.Model == "" || h.HashScheme == "" || h.Epoch == 0 || h.Epoch > maxNumber {
		return 0, OpenReply{}, fmt.Errorf("%w: a hello needs pod, tenant, model, hash scheme and an epoch from 1 to %d", errInvalid, uint64(maxNumber))
	}
	if x.HidesTenant(h.Tenant) {
		h.Backend = Backend{} // holders are listed by it
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.sessions[h.Holder]
	if s != nil && h.Epoch < s.hello.Epoch {
		return 0, OpenReply{}, fmt.Errorf("%w: %d, not %d", ErrStaleEpoch, s.hello.Epoch, h.Epoch)
	}
	if s == nil || !s.continues(h) {
		s = x.replaceSession(s, h)
	}
	delete(x.byStream, s.stream)
	x.lastStream++
	s.stream, s.connected, s.newest = x.lastStream, true, h
	x.byStream[s.stream] = s
	x.unstage(s)
	s.target = h.LastSequence
	s.awaiting = !s.canResume(h)
	x.changed(s)
	return s.stream, OpenReply{SnapshotWanted: s.awaiting, ResumeFrom: s.sequence + 1}, nil
}

// continues reports whether a hello speaks of the state that the session has.
func (s *Session) continues(h Hello) bool {
	return s.hello.Epoch == h.Epoch && s.hello.Tenant == h.Tenant && s.hello.Model == h.Model &&
		s.hello.HashScheme == h.HashScheme && s.hello.Backend == h.Backend
}

// canResume reports whether the holder can send everything after the applied sequence.
func (s *Session) canResume(h Hello) bool {
	if s.sequence > h.LastSequence {
		return false
	}
	return s.sequence == h.LastSequence || (h.OldestSequence != 0 && h.OldestSequence <= s.sequence+1)
}

// replaceSession starts a session anew; what an earlier epoch held is gone.
func (x *Index) replaceSession(old *Session, h Hello) *Session {
	if old != nil {
		x.dropSession(old)
	}
	s := &Session{hello: h, newest: h, fresh: true}
	s.standing.id = idOf(h.Holder)
	s.current.Store(newHolding(s))
	x.sessions[h.Holder] = s
	if h.Backend != (Backend{}) {
		if x.byBackend[h.Backend] == nil {
			x.byBackend[h.Backend] = map[*Session]struct{}{}
		}
		x.byBackend[h.Backend][s] = struct{}{}
	}
	if n := len(x.freeNumbers); n > 0 {
		s.number, x.freeNumbers = x.freeNumbers[n-1], x.freeNumbers[:n-1]
	} else {
		s.number = x.numbers
		x.numbers++
	}
	x.reshape(func() {
		s.scheme = x.makeScheme(&h)
		s.scheme.sessions.insert(s, byHolder)
	})
	x.standings.Add(1)
	return s
}

// Close ends a stream: its holder is suspect until the lease is over or it is back.
// One of the hidden tenant is gone at once.
func (x *Index) Close(stream Stream, now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s, ok := x.byStream[stream]
	if !ok {
		return
	}
	if x.hides(s) {
		x.dropSession(s)
		x.sweep(sweepPerChange)
		return
	}
	delete(x.byStream, stream)
	s.connected = false
	s.leaseEnd = now.Add(x.options.Lease)
	x.unstage(s)
	x.changed(s)
}

func (x *Index) dropSession(s *Session) {
	x.countStale(s, false)
	x.unstage(s)
	x.reshape(func() {
		h := s.current.Load()
		s.current.Store(newHolding(s))
		x.dropHolding(h)
		s.scheme.sessions.delete(s, byHolder)
		s.scheme.unsure.delete(s, byHolder)
		x.dropScheme(s.scheme)
	})
	x.standings.Add(1)
	x.freeNumbers = append(x.freeNumbers, s.number)
	delete(x.sessions, s.hello.Holder)
	delete(x.byStream, s.stream)
	if of := x.byBackend[s.hello.Backend]; of != nil {
		if delete(of, s); len(of) == 0 {
			delete(x.byBackend, s.hello.Backend)
		}
	}
	x.version.Add(1)
}

func (x *Index) unstage(s *Session) {
	if s.staged != nil {
		x.dropHolding(s.staged.holding)
		s.staged = nil
	}
}

// sessionOf returns the session whose current stream this is.
func (x *Index) sessionOf(stream Stream) (*Session, error) {
	s, ok := x.byStream[stream]
	if !ok {
		return nil, ErrSuperseded
	}
	return s, nil
}
