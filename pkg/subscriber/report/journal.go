/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package report

import (
	"sync"
	"time"

	"k8s.io/utils/clock"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/kvevents"
	"inferencecache.io/inference-cache/pkg/subscriber/mirror"
)

// Defaults of [JournalOptions].
const (
	// DefaultWindow is how long changes are collected before they are reported.
	DefaultWindow = 100 * time.Millisecond
	// DefaultMaxPending is the number of changed blocks that are reported at once,
	// however young the oldest of them is.
	DefaultMaxPending = 4096
	// DefaultMaxDeltas and DefaultMaxBytes bound what is kept for resuming.
	DefaultMaxDeltas = 4096
	DefaultMaxBytes  = 16 << 20
)

// JournalOptions configure a [Journal]. A field that is 0 takes its default.
type JournalOptions struct {
	// Rank is the data-parallel rank that the journal is about.
	Rank uint32
	// Mirror configures the mirror.
	Mirror mirror.Options
	// Window, MaxPending, MaxDeltas and MaxBytes: see the defaults.
	Window     time.Duration
	MaxPending int
	MaxDeltas  int
	MaxBytes   int
	// Clock is the wall clock when it is nil.
	Clock clock.WithDelayedExecution
}

// Journal is the numbered record of what one engine rank holds. It is reported
// while the rank is heard, which [Journal.Connected] begins. Its methods are safe
// for concurrent use.
type Journal struct {
	*hearing

	opts JournalOptions

	mu     sync.Mutex
	mirror *mirror.Mirror
	// epoch names the incarnation, sequence is the last delta made.
	epoch, sequence uint64
	ring            ring
	// flushed is when the last delta was made; timer runs while changes wait.
	flushed time.Time
	timer   clock.Timer
	// past are the counters of earlier epochs.
	past mirror.Stats
	// eventTime is that of the newest batch, in microseconds since 1970.
	eventTime int64
	capacity  int64
	stats     *pb.EngineStats
	// engine names the engine's software, empty until it is known.
	engine string
	// changed is closed and replaced whenever there is something new to read.
	changed chan struct{}
}

// NewJournal returns the journal of a rank that is not known to hold anything.
func NewJournal(opts JournalOptions) *Journal {
	if opts.Window <= 0 {
		opts.Window = DefaultWindow
	}
	if opts.MaxPending <= 0 {
		opts.MaxPending = DefaultMaxPending
	}
	if opts.MaxDeltas <= 0 {
		opts.MaxDeltas = DefaultMaxDeltas
	}
	if opts.MaxBytes <= 0 {
		opts.MaxBytes = DefaultMaxBytes
	}
	if opts.Clock == nil {
		opts.Clock = clock.RealClock{}
	}
	j := &Journal{
		hearing: newHearing(opts.Clock),
		opts:    opts,
		mirror:  mirror.New(opts.Mirror),
		epoch:   uint64(opts.Clock.Now().UnixNano()),
		ring:    ring{maxCount: opts.MaxDeltas, maxBytes: opts.MaxBytes},
		changed: make(chan struct{}),
	}
	return j
}

// Rank returns the rank that the journal is about.
func (j *Journal) Rank() uint32 { return j.opts.Rank }

// Absorb takes one batch of events. A batch after a pause is reported at once;
// those that follow within the window are reported together.
func (j *Journal) Absorb(batch *kvevents.Batch) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.mirror.Absorb(batch)
	j.eventTime = max(j.eventTime, microseconds(batch.Timestamp))
	if j.mirror.Pending() >= j.opts.MaxPending || j.opts.Clock.Since(j.flushed) >= j.opts.Window {
		j.flush()
		return
	}
	if j.timer == nil {
		wait := j.opts.Window - j.opts.Clock.Since(j.flushed)
		j.timer = j.opts.Clock.AfterFunc(wait, j.flushLate)
	}
}

// flushLate reports what has been waiting for the end of the window.
func (j *Journal) flushLate() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.flush()
}

// flush turns what changed into deltas.
func (j *Journal) flush() {
	if j.timer != nil {
		j.timer.Stop()
		j.timer = nil
	}
	changes := j.mirror.Flush()
	if len(changes) == 0 {
		return
	}
	j.flushed = j.opts.Clock.Now()
	for message := range pack(changes) {
		j.sequence++
		j.ring.push(&pb.Delta{Sequence: j.sequence, Changes: message, EventTimeUs: j.eventTime})
	}
	j.notify()
}

func (j *Journal) notify() {
	close(j.changed)
	j.changed = make(chan struct{})
}

// Restart begins a new epoch in which nothing is known, because the engine has
// started anew or because events were lost for good. Degraded says, if it is not
// empty, why the state will be less than what the engine holds.
func (j *Journal) Restart(degraded string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.timer != nil {
		j.timer.Stop()
		j.timer = nil
	}
	j.past = j.mirror.Stats().Plus(j.past)
	j.mirror = mirror.New(j.opts.Mirror)
	j.mirror.SetCapacity(j.capacity)
	j.epoch = max(j.epoch+1, uint64(j.opts.Clock.Now().UnixNano()))
	j.sequence, j.eventTime = 0, 0
	j.flushed = time.Time{}
	j.ring.reset()
	if degraded != "" {
		j.mirror.Degrade(degraded)
	}
	j.flush()
	j.notify()
}

// Degrade notes why the state is less than what the engine holds, until the
// engine clears its cache.
func (j *Journal) Degrade(reason string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.mirror.Degrade(reason)
	j.flush()
}

// SetCapacity tells how many blocks the engine has in its own memory.
func (j *Journal) SetCapacity(blocks int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.capacity = blocks
	j.mirror.SetCapacity(blocks)
}

// SetStats replaces the statistics of the rank. They must not change afterwards.
func (j *Journal) SetStats(stats *pb.EngineStats) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.stats = stats
	j.notify()
}

// SetEngine tells the name of the engine's software, with its version.
func (j *Journal) SetEngine(engine string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.engine != engine {
		j.engine = engine
		j.notify()
	}
}

// Progress returns the newest delta made in this epoch, and whether changes wait
// for the end of their window. A replica of the index that has acknowledged this
// delta while nothing waits knows everything that the journal has taken.
func (j *Journal) Progress() (sequence uint64, waiting bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.sequence, j.timer != nil
}

// MirrorStats returns the mirror's counters, over all epochs, and what it knows
// now.
func (j *Journal) MirrorStats() (mirror.Stats, mirror.Confidence) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.mirror.Stats().Plus(j.past), j.mirror.Confidence()
}

// microseconds converts an engine's timestamp; one that is no time is 0.
func microseconds(seconds float64) int64 {
	const latest = 1 << 33 // seconds, the year 2242
	if !(seconds > 0 && seconds < latest) {
		return 0
	}
	return int64(seconds * 1e6)
}
