/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package report

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

const (
	// maxSnapshots is how many snapshots one subscriber sends at a time, to all
	// replicas and about all ranks. Each takes 8 bytes a block, and one message.
	maxSnapshots = 2
	// spreadPerBlock is by how much the start of a snapshot is put off at most, per
	// block. A replica that has just started, or an index that has been restarted
	// as a whole, is asked to take the snapshots of all engines; taking one costs it
	// less than this, so that they come after each other instead of together.
	spreadPerBlock = 2 * time.Microsecond
	maxSpread      = 5 * time.Second
	// stallTimeout bounds the wait until an index has taken a message of a snapshot.
	// One that does not must not keep the others waiting.
	stallTimeout = 20 * time.Second
)

// gate lets a number of snapshots through at a time.
type gate struct {
	clock clock.WithTicker
	slots chan struct{}
	// spread draws the time by which a snapshot is put off.
	spread func(limit time.Duration) time.Duration
}

func newGate(c clock.WithTicker) *gate {
	return &gate{clock: c, slots: make(chan struct{}, maxSnapshots), spread: randomSpread}
}

// randomSpread returns any time up to a limit.
func randomSpread(limit time.Duration) time.Duration { return rand.N(limit + 1) }

// enter waits for a turn, while the session goes on showing that it lives. Leave
// has to be called when there is no error.
func (s *session) enter(ctx context.Context) (leave func(), err error) {
	limit := min(time.Duration(s.journal.Size())*spreadPerBlock, maxSpread)
	var due <-chan time.Time
	var slots chan<- struct{}
	if wait := s.gate.spread(limit); wait > 0 {
		timer := s.clock.NewTimer(wait)
		defer timer.Stop()
		due = timer.C()
	} else {
		slots = s.gate.slots
	}
	for {
		select {
		case <-due:
			due, slots = nil, s.gate.slots
		case slots <- struct{}{}:
			return func() { <-s.gate.slots }, nil
		case <-s.heartbeat.C():
			if err := s.sendHeartbeat(); err != nil {
				return nil, err
			}
		case err := <-s.failed:
			return nil, streamError(err)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// sendSnapshot sends everything that the rank holds and goes on after it. The
// messages are not compressed: nearly all that they have is hashes, which no
// compressor makes smaller. A million blocks are 8.0 MB in long chains and 9.0 MB
// in short conversations, of which gzip leaves 100 and 96 percent, for half a
// second of work. What can be saved is saved by not repeating hashes for further
// groups and tiers: with all blocks in two tiers as well, it is 9.3 MB, not 18.
func (s *session) sendSnapshot(ctx context.Context, reason string) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	select {
	case <-s.resync: // what has been asked for by now is answered by this one
	default:
	}
	snapshot := s.journal.Snapshot()
	if snapshot.Epoch != s.epoch {
		return errOutdated
	}
	logr.FromContextOrDiscard(ctx).V(2).Info("Sending a snapshot", "reason", reason, "sequence", snapshot.Sequence)
	progress := s.watch()
	defer close(progress)
	for chunk := range snapshot.chunks() {
		if err := s.send(&pb.ReportRequest{Message: &pb.ReportRequest_Snapshot{Snapshot: chunk}}); err != nil {
			return fmt.Errorf("sending a snapshot: %w", err)
		}
		progress <- struct{}{}
	}
	s.next = snapshot.Sequence + 1
	s.metrics.snapshots.Inc()
	return nil
}

// watch ends the stream when no progress is told for too long. Closing the channel
// ends the watch.
func (s *session) watch() chan<- struct{} {
	progress := make(chan struct{})
	timer := s.clock.NewTimer(stallTimeout)
	go func() {
		defer timer.Stop()
		for stalled := false; ; {
			select {
			case <-timer.C():
				stalled = true
				s.cancel()
			case _, more := <-progress:
				if !more {
					return
				}
				if !stalled {
					timer.Reset(stallTimeout)
				}
			}
		}
	}()
	return progress
}
