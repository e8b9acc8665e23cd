/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

import (
	"sync"
	"sync/atomic"
	"time"
)

// Options are the fixed settings of an Index.
type Options struct {
	// Lease is how long a holder whose stream was lost is suspect before it is
	// dropped. 0 means DefaultLease.
	Lease time.Duration
	// WarmUp is how long after its start the index calls itself incomplete, so
	// that holders it has never heard of can connect. 0 means DefaultWarmUp;
	// negative means none.
	WarmUp time.Duration
	// Secret scrambles hashes inside the index. A value that reporters cannot guess
	// keeps them from choosing hashes that are slow to find.
	Secret uint64
	// InferredTTL is how long an inferred block is believed. 0 means DefaultInferredTTL.
	InferredTTL time.Duration
}

// Defaults of Options.
const (
	DefaultLease       = 30 * time.Second
	DefaultWarmUp      = 10 * time.Second
	DefaultInferredTTL = 30 * time.Minute
)

// snapshotLeases is how many leases a holder has to send a snapshot. One that
// never does would keep the index incomplete for everybody.
const snapshotLeases = 2

func (o Options) withDefaults() Options {
	if o.Lease == 0 {
		o.Lease = DefaultLease
	}
	if o.WarmUp == 0 {
		o.WarmUp = DefaultWarmUp
	}
	if o.InferredTTL == 0 {
		o.InferredTTL = DefaultInferredTTL
	}
	return o
}

// Index is the live index. The zero value is not usable; see New.
type Index struct {
	options Options
	started time.Time
	version atomic.Uint64
	// stale counts the sessions whose state the index does not have.
	stale atomic.Int64

	mu        sync.RWMutex
	families  map[familyKey]*family
	sessions  map[Holder]*Session
	byStream  map[Stream]*Session
	byBackend map[Backend]map[*Session]struct{}
	catalog   catalog
	// unsure are the holders that could not report all they hold.
	unsure map[*Session]struct{}
	arena  arena
	// unswept are the directories with something to clear up.
	unswept map[*directory]struct{}
	scratch []uint32
	// lastStream is the newest stream number.
	lastStream Stream
}

// New returns an empty index that was started at now.
func New(options Options, now time.Time) *Index {
	return &Index{
		options:   options.withDefaults(),
		started:   now,
		families:  map[familyKey]*family{},
		sessions:  map[Holder]*Session{},
		byStream:  map[Stream]*Session{},
		byBackend: map[Backend]map[*Session]struct{}{},
		catalog:   catalog{},
		unswept:   map[*directory]struct{}{},
		unsure:    map[*Session]struct{}{},
	}
}

// Lease returns how long a holder stays suspect.
func (x *Index) Lease() time.Duration { return x.options.Lease }

// Version grows whenever an answer of the index may have changed.
func (x *Index) Version() uint64 { return x.version.Load() }

// Complete reports whether the index has the state of every holder it knows
// and has waited for those it does not know.
func (x *Index) Complete(now time.Time) bool {
	return x.warm(now) && x.stale.Load() == 0
}

func (x *Index) warm(now time.Time) bool {
	return !now.Before(x.started.Add(x.options.WarmUp))
}

// Expire drops holders whose lease is over or who do not send the snapshot that
// they were asked for, and inferred blocks that are no longer believed. Call it
// about once a second.
func (x *Index) Expire(now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, s := range x.sessions {
		if (!s.connected && !now.Before(s.leaseEnd)) || s.withholds(now, snapshotLeases*x.options.Lease) {
			x.dropSession(s)
			continue
		}
		if s.current.expireInferred(now) {
			x.changed(s)
		}
	}
	x.sweep(sweepPerExpire)
}
