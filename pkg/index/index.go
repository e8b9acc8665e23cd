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
	// Memory is the most memory, in bytes, that blocks may take; 0 means no limit.
	Memory int64
	// HiddenTenant is a tenant that shows in lookups and in MemoryUse only: its
	// holders and blocks are in no list and no total, the index is complete without
	// them, and a holder of it goes with its stream, without a lease. Empty is none.
	HiddenTenant string
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
	// standings counts what changed of holders beside what they hold.
	standings atomic.Uint64
	// stale counts the sessions whose state the index does not have.
	stale atomic.Int64
	// evicted counts blocks that were forgotten.
	evicted [Unused + 1][LFU + 1]atomic.Int64

	// shape is odd while holders come, go, or change what they have all at once.
	shape atomic.Uint64
	// tenants lead to everything that lookups read.
	tenants published[string, *tenant]

	// mu is for the writer, and for readers that look at more than a prompt.
	mu        sync.Mutex
	sessions  map[Holder]*Session
	byStream  map[Stream]*Session
	byBackend map[Backend]map[*Session]struct{}
	limits    map[string]TenantLimits
	arena     arena
	// directories by number, with the numbers that are free.
	directories     []*directory
	freeDirectories []uint32
	// unswept are the directories with something to clear up.
	unswept   map[*directory]struct{}
	scratch   []uint32
	forgotten []interval
	// numbers counts those given to sessions; free ones are used again.
	numbers     uint32
	freeNumbers []uint32
	// lastStream is the newest stream number.
	lastStream Stream
}

// New returns an empty index that was started at now.
func New(options Options, now time.Time) *Index {
	return &Index{
		options:   options.withDefaults(),
		started:   now,
		sessions:  map[Holder]*Session{},
		byStream:  map[Stream]*Session{},
		byBackend: map[Backend]map[*Session]struct{}{},
		limits:    map[string]TenantLimits{},
		unswept:   map[*directory]struct{}{},
	}
}

// Lease returns how long a holder stays suspect.
func (x *Index) Lease() time.Duration { return x.options.Lease }

// Standings grows after every change of what Serving returns or of the State or the
// Stats of a session in it. Whoever reads it first and these afterwards may keep
// them for as long as it stays the same.
func (x *Index) Standings() uint64 { return x.standings.Load() }

// Version grows whenever an answer of the index may have changed.
func (x *Index) Version() uint64 { return x.version.Load() }

// Complete reports whether the index has the state of every holder it knows
// and has waited for those it does not know. It takes no lock.
func (x *Index) Complete(now time.Time) bool {
	return x.warm(now) && x.stale.Load() == 0
}

func (x *Index) warm(now time.Time) bool {
	return !now.Before(x.started.Add(x.options.WarmUp))
}

// shedPerExpire is how many blocks a call of Expire may forget of each tenant for
// limits that were lowered.
const shedPerExpire = 1 << 16

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
		if s.current.Load().expireInferred(now) {
			x.changed(s)
		}
	}
	x.arena.beat.Add(1)
	for _, t := range x.tenants.all() {
		x.age(t, now)
		x.shed(t, shedPerExpire)
	}
	x.sweep(sweepPerExpire)
}

// reshape encloses what readers must not see half done: holders that come or go,
// or that have other blocks or groups from one moment to the next.
func (x *Index) reshape(change func()) {
	x.shape.Add(1)
	change()
	x.shape.Add(1)
}

// MemoryUse is the memory, in bytes, that blocks take.
func (x *Index) MemoryUse() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.arena.bytes()
}
