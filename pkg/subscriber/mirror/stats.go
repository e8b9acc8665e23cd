/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package mirror

import "slices"

// Stats count what a mirror has seen and what it knows. Counters run for the life
// of a mirror.
type Stats struct {
	// StoredEvents, RemovedEvents and Clears count the events taken.
	StoredEvents, RemovedEvents, Clears int64
	// Malformed counts events that could not be read or contradict themselves.
	Malformed int64
	// Foreign counts events about blocks that are not the engine's own.
	Foreign int64
	// UnknownMedium counts events of a tier that is not known.
	UnknownMedium int64
	// UnknownRemovals counts removals of blocks that were not resident.
	UnknownRemovals int64
	// UnknownStores counts hashes that were stored without tokens and were not
	// known before.
	UnknownStores int64
	// Refused counts blocks beyond the limits.
	Refused int64
	// Dropped counts unplaced blocks that were given up.
	Dropped int64
	// Remapped counts hashes that changed their content.
	Remapped int64
	// RuleChanges counts changes to the last-copy rule by the audit.
	RuleChanges int64

	// Known, Ghosts and Unplaced are the engine hashes known now, those without
	// copies, and those without a position. Contents counts the contents known.
	Known, Ghosts, Unplaced, Contents int
}

// Stats returns the counters.
func (m *Mirror) Stats() Stats {
	s := m.stats
	s.Known, s.Ghosts, s.Unplaced, s.Contents = m.known, m.ghosts.count, len(m.parked), m.contents.count
	return s
}

// Adapters returns the names of the adapters seen, without the base model.
func (m *Mirror) Adapters() []string {
	var names []string
	for _, name := range m.adapters {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Confidence returns how far the state can be trusted now.
func (m *Mirror) Confidence() Confidence { return m.confidence }

// Plus returns s with the counters of an earlier mirror added.
func (s Stats) Plus(earlier Stats) Stats {
	s.StoredEvents += earlier.StoredEvents
	s.RemovedEvents += earlier.RemovedEvents
	s.Clears += earlier.Clears
	s.Malformed += earlier.Malformed
	s.Foreign += earlier.Foreign
	s.UnknownMedium += earlier.UnknownMedium
	s.UnknownRemovals += earlier.UnknownRemovals
	s.UnknownStores += earlier.UnknownStores
	s.Refused += earlier.Refused
	s.Dropped += earlier.Dropped
	s.Remapped += earlier.Remapped
	s.RuleChanges += earlier.RuleChanges
	return s
}

// SetCapacity tells how many blocks the engine has in its own memory, 0 when that
// is not known. Copies that add up to more prove that a removal meant the last
// copy; the mirror then changes the rule with the next batch, if it may.
func (m *Mirror) SetCapacity(blocks int64) { m.capacity = blocks }

// audit checks the copies counted against the engine's size.
func (m *Mirror) audit() {
	if m.capacity <= 0 || m.removals != Auto {
		return
	}
	for _, copies := range m.copies {
		if copies > m.capacity {
			m.removals = LastCopy
			m.stats.RuleChanges++
			m.dropShrunk()
			return
		}
	}
}

// dropShrunk catches up on the removals that were taken for one of several
// copies.
func (m *Mirror) dropShrunk() {
	var shrunk []laneKey
	for key, many := range m.many {
		if many.shrunk {
			shrunk = append(shrunk, key)
		}
	}
	slices.Sort(shrunk)
	for _, key := range shrunk {
		ref := key.ref()
		m.setCopies(ref.block, ref.lane, m.many[key], 0)
	}
}
