/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package report

import (
	"errors"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Grace is how long an engine's event stream may be down before the sessions about
// the rank end. It is twice the longest pause between two attempts to connect, so
// that one failed attempt ends nothing.
const Grace = 10 * time.Second

// errUnheard ends a session whose engine is not heard any more. What the index was
// told would otherwise pass for the truth for as long as this process lives.
var errUnheard = errors.New("the engine is not heard any more")

// hearing says whether an engine rank is heard. It is safe for concurrent use.
type hearing struct {
	clock clock.WithDelayedExecution

	mu    sync.Mutex
	heard bool
	// changed is closed and replaced whenever heard changes.
	changed chan struct{}
	// grace runs while the stream is down and heard has not changed yet; down
	// counts these times, so that a timer that is stopped too late changes nothing.
	grace clock.Timer
	down  uint64
}

func newHearing(c clock.WithDelayedExecution) *hearing {
	return &hearing{clock: c, changed: make(chan struct{})}
}

// Connected says that the engine's event stream is connected, and that what was
// published before it was has been taken. Sessions about the rank may begin.
func (h *hearing) Connected() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.grace != nil {
		h.grace.Stop()
		h.grace = nil
	}
	h.set(true)
}

// Disconnected says that the engine's event stream is down. Sessions about the
// rank end if that does not change within [Grace].
func (h *hearing) Disconnected() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.heard || h.grace != nil {
		return
	}
	h.down++
	down := h.down
	h.grace = h.clock.AfterFunc(Grace, func() { h.expire(down) })
}

// expire ends the patience with a stream that is down.
func (h *hearing) expire(down uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.grace != nil && h.down == down {
		h.grace = nil
		h.set(false)
	}
}

func (h *hearing) set(heard bool) {
	if h.heard != heard {
		h.heard = heard
		close(h.changed)
		h.changed = make(chan struct{})
	}
}

// state returns whether the engine is heard, and what is closed when that changes.
func (h *hearing) state() (heard bool, changed <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.heard, h.changed
}
