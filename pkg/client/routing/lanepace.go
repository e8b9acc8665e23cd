/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import "time"

// Times of lanes.
const (
	// laneLife is how long a stream is used, so that the index sees a new token and
	// a renewed permission soon.
	laneLife = time.Minute
	// laneMaxPause is the longest time between attempts to open a stream.
	laneMaxPause = time.Minute
)

// lanePace opens and closes the lanes of one peer. It belongs to one goroutine.
type lanePace struct {
	// life is how long a lane is used.
	life        time.Duration
	pause, next time.Duration
	begun       time.Time
}

// keep looks after the lane of a peer: it replaces one that is old, and opens one
// where there is none. An index that cannot stream, or does not do it well, is asked
// ever more rarely.
func (l *lanePace) keep(p *peer) {
	if l.begun.IsZero() {
		l.begun = time.Now()
	}
	current := p.lane.Load()
	if current != nil {
		if current.answered.Load() && !current.broken.Load() {
			l.pause = 0
		}
		if !current.over() && time.Since(current.opened) < l.life {
			return
		}
	}
	if s := standing(p.standing.Load()); s == failing || s == unknown || time.Since(l.begun) < l.next {
		return
	}
	l.pause = min(max(2*l.pause, p.options.HealthInterval), laneMaxPause)
	l.next = time.Since(l.begun) + l.pause
	fresh, err := openLane(p.ctx, p.client, p.options.Timeout/lanePatience, p.options.HealthInterval)
	if err != nil {
		p.options.Logger.V(5).Info("No stream to the index replica", "address", p.address, "err", err.Error())
		return
	}
	p.lane.Store(fresh)
	if current != nil {
		current.retire()
	}
}
