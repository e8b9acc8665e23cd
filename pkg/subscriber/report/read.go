/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package report

import (
	"iter"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/subscriber/mirror"
)

// Position says what a journal can offer to a session that begins.
type Position struct {
	// Epoch names the incarnation.
	Epoch uint64
	// Oldest is the first sequence that can be resent, 0 when there is none, and
	// Last the newest one made, 0 when there is none.
	Oldest, Last uint64
	// Adapters are the adapters seen so far.
	Adapters []string
	// Engine names the engine's software, empty while it is not known.
	Engine string
}

// Position returns what the journal can offer now.
func (j *Journal) Position() Position {
	j.mu.Lock()
	defer j.mu.Unlock()
	return Position{Epoch: j.epoch, Oldest: j.ring.oldest(), Last: j.sequence, Adapters: j.mirror.Adapters(), Engine: j.engine}
}

// readLimit is how many deltas one Read returns.
const readLimit = 64

// Reading is what a journal has for a session.
type Reading struct {
	// Deltas are the next ones, oldest first.
	Deltas []*pb.Delta
	// Last is the newest sequence made.
	Last uint64
	// Stats are the newest statistics, nil when there are none.
	Stats *pb.EngineStats
	// Engine names the engine's software, empty while it is not known.
	Engine string
	// Restarted: the epoch that the session is about has ended.
	Restarted bool
	// Behind: the next delta is not kept any more, or was never made.
	Behind bool
	// Changed is closed when there is something newer.
	Changed <-chan struct{}
}

// Read returns what comes from a sequence on in an epoch.
func (j *Journal) Read(epoch, next uint64) Reading {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := Reading{Last: j.sequence, Stats: j.stats, Engine: j.engine, Changed: j.changed}
	switch {
	case epoch != j.epoch:
		r.Restarted = true
	case next > j.sequence:
		r.Behind = next > j.sequence+1
	case j.ring.len() == 0 || next < j.ring.oldest():
		r.Behind = true
	default:
		r.Deltas = j.ring.from(next, readLimit)
	}
	return r
}

// Snapshot is everything that a rank holds.
type Snapshot struct {
	Epoch uint64
	// Sequence is the newest delta that the snapshot includes.
	Sequence uint64
	// Changes build the state from nothing.
	Changes []mirror.Change
	// EventTime is that of the newest event, in microseconds since 1970.
	EventTime int64
}

// Size returns about how many blocks a snapshot would have now.
func (j *Journal) Size() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.mirror.Stats().Contents
}

// Snapshot returns the state as of the newest delta.
func (j *Journal) Snapshot() Snapshot {
	j.mu.Lock()
	defer j.mu.Unlock()
	return Snapshot{Epoch: j.epoch, Sequence: j.sequence, Changes: j.mirror.Snapshot(), EventTime: j.eventTime}
}

// chunks cuts a snapshot into messages, each of which is made when it is asked for.
func (s *Snapshot) chunks() iter.Seq[*pb.SnapshotChunk] {
	return func(yield func(*pb.SnapshotChunk) bool) {
		// Which one is the last is known when there is no other.
		var held *pb.SnapshotChunk
		next := uint32(0)
		for message := range pack(s.Changes) {
			if held != nil && !yield(held) {
				return
			}
			held = &pb.SnapshotChunk{Sequence: s.Sequence, Chunk: next, Changes: message, EventTimeUs: s.EventTime}
			next++
		}
		held.Last = true
		yield(held)
	}
}
