/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"fmt"
	"time"
)

// Delta applies the changes of one sequence number. eventTime is that of the
// newest engine event in it, zero for none. An invalid delta changes nothing and
// is an error; so is a superseded stream.
func (x *Index) Delta(stream Stream, sequence uint64, changes []Change, eventTime, now time.Time) (Outcome, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s, err := x.sessionOf(stream)
	if err != nil {
		return Ignored, err
	}
	if s.awaiting {
		return Ignored, nil
	}
	if sequence <= s.sequence {
		s.duplicates++
		return Duplicate, nil
	}
	if sequence != s.sequence+1 {
		return x.gap(s, sequence), nil
	}
	h := s.current.Load()
	declared, err := check(h.declared, changes)
	if err != nil {
		return Ignored, fmt.Errorf("delta %d: %w", sequence, err)
	}
	x.arena.beat.Add(1)
	x.declare(h, declared)
	x.apply(h, changes, now)
	x.noteSure(s)
	x.shed(s.scheme.model.tenant, brought(changes))
	x.sweep(sweepPerChange)
	s.sequence = sequence
	s.fresh = s.fresh && s.sequence < s.target
	s.sawEvent(eventTime, now)
	x.changed(s)
	return Applied, nil
}

// declare gives a holding its declarations.
func (x *Index) declare(h *holding, declared *declarations) {
	if declared == h.declared {
		return
	}
	x.reshape(func() {
		h.declared = declared
		h.plans.set(planOf(declared.sortedGroups()))
		h.regroup()
	})
}

// noteSure keeps the list of holders that are not sure of what they hold.
func (x *Index) noteSure(s *Session) {
	unsure := s.current.Load().unsure()
	s.standing.unsure.Store(unsure)
	if unsure {
		s.scheme.unsure.insert(s, byHolder)
	} else {
		s.scheme.unsure.delete(s, byHolder)
	}
}

// gap stops a session until it has sent a snapshot. What it has stays visible.
func (x *Index) gap(s *Session, sequence uint64) Outcome {
	s.gaps++
	s.awaiting = true
	s.target = max(s.target, sequence)
	x.unstage(s)
	x.changed(s)
	return Gap
}

// Chunk is one part of a snapshot.
type Chunk struct {
	// Sequence is that of the last delta which the snapshot contains.
	Sequence uint64
	// Number of the chunk, from 0 without holes; chunk 0 starts the snapshot anew.
	Number    uint32
	Last      bool
	Changes   []Change
	EventTime time.Time
}

// Snapshot takes one chunk. The chunks replace the holder's state together when
// the last one is in. An invalid chunk drops the snapshot and is an error.
func (x *Index) Snapshot(stream Stream, c Chunk, now time.Time) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	s, err := x.sessionOf(stream)
	if err != nil {
		return err
	}
	if c.Sequence > maxNumber {
		return fmt.Errorf("%w: sequence %d is above %d", errInvalid, c.Sequence, uint64(maxNumber))
	}
	if c.Number == 0 {
		x.unstage(s)
		s.staged = &staging{holding: newHolding(s), sequence: c.Sequence}
	}
	if err := x.stage(s, c, now); err != nil {
		x.unstage(s)
		return fmt.Errorf("snapshot chunk %d: %w", c.Number, err)
	}
	s.sawEvent(c.EventTime, now)
	s.awaitingSince = now // it is on its way
	if c.Last {
		x.promote(s, now)
	}
	x.changed(s)
	return nil
}

func (x *Index) stage(s *Session, c Chunk, now time.Time) error {
	st := s.staged
	if st == nil || st.nextChunk != c.Number || st.sequence != c.Sequence {
		return fmt.Errorf("%w: out of order", errInvalid)
	}
	declared, err := check(st.holding.declared, c.Changes)
	if err != nil {
		return err
	}
	x.arena.beat.Add(1)
	x.declare(st.holding, declared)
	st.holding = x.apply(st.holding, c.Changes, now)
	x.shed(s.scheme.model.tenant, brought(c.Changes))
	st.nextChunk++
	return nil
}

// promote makes a complete snapshot the holder's state.
func (x *Index) promote(s *Session, now time.Time) {
	x.reshape(func() {
		old := s.current.Swap(s.staged.holding)
		s.staged.holding.show()
		x.dropHolding(old)
		x.noteSure(s)
	})
	s.sequence = s.staged.sequence
	s.staged, s.awaiting, s.fresh = nil, false, false
	s.target = s.sequence
	s.current.Load().expireInferred(now)
}

// Heartbeat says which delta the holder made last. Gap means that it never arrived.
func (x *Index) Heartbeat(stream Stream, lastSequence uint64) (Outcome, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s, err := x.sessionOf(stream)
	switch {
	case err != nil:
		return Ignored, err
	case s.awaiting || s.staged != nil:
		return Ignored, nil
	case lastSequence > s.sequence:
		return x.gap(s, lastSequence), nil
	}
	return Applied, nil
}

// SetStats replaces the holder's statistics.
func (x *Index) SetStats(stream Stream, stats Stats) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	s, err := x.sessionOf(stream)
	if err != nil {
		return err
	}
	s.stats = &stats
	x.changed(s)
	return nil
}

// Sequence returns the last applied delta of a stream.
func (x *Index) Sequence(stream Stream) (uint64, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s, err := x.sessionOf(stream)
	if err != nil {
		return 0, err
	}
	return s.sequence, nil
}

// sawEvent moves the event times. An engine's clock ahead of ours counts as now.
func (s *Session) sawEvent(at, now time.Time) {
	if at.IsZero() {
		return
	}
	if at.After(now) {
		at = now
	}
	if s.firstEvent.IsZero() {
		s.firstEvent = at
	}
	if at.After(s.lastEvent) {
		s.lastEvent = at
	}
}
