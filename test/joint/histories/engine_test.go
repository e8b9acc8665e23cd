/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package histories

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"inferencecache.io/inference-cache/pkg/kvevents"
	"inferencecache.io/inference-cache/pkg/subscriber/mirror"
	"inferencecache.io/inference-cache/pkg/subscriber/source"
)

// engine is an engine process with its two sockets, and what was true of it at
// every moment of its lives.
type engine struct {
	universe *universe

	mu    sync.Mutex
	rng   *rand.Rand
	model *model
	// truth has what would be reused of each probe, after every message of all
	// lives and after every restart. A batch's timestamp is its position in it.
	truth    [][]int
	sequence uint64
	buffer   []kvevents.Message
	// retain is how many messages are kept for replay; 0 keeps all of them. Only an
	// engine that does not may forget one before its turn.
	retain int
	// faults: sockets lose messages; clumsy: the last replay did.
	faults, clumsy bool
	live           *liveStream
	held           *kvevents.Message
	// cutOff is since when nobody can reach the sockets, zero when one can.
	cutOff time.Time
}

var _ source.Engine = (*engine)(nil)

func newEngine(s shape, u *universe, rng *rand.Rand) *engine {
	e := &engine{universe: u, rng: rng, faults: true}
	if rng.IntN(2) == 0 {
		e.retain = 1 + rng.IntN(12)
	}
	e.boot(newModel(s, rng))
	return e
}

// boot begins a life.
func (e *engine) boot(m *model) {
	if e.model != nil && m.engine == mirror.SGLang {
		m.hashes = e.model.hashes
	}
	e.model, e.sequence, e.buffer, e.held = m, 0, nil, nil
	if e.live != nil {
		close(e.live.messages)
		e.live = nil
	}
	e.note()
	if m.engine == mirror.SGLang {
		// SGLang clears its cache before anybody can listen.
		e.publish(m.reset())
	}
}

// restart kills the process and starts it anew.
func (e *engine) restart() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.boot(newModel(e.model.shape, e.rng))
}

// disconnect breaks the live connection.
func (e *engine) disconnect() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.live != nil {
		close(e.live.messages)
		e.live = nil
	}
}

// toggleReach cuts the engine off from everybody, or ends that.
func (e *engine) toggleReach() (reachable bool) {
	e.disconnect()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.cutOff.IsZero() {
		e.cutOff = time.Now()
		return false
	}
	e.cutOff = time.Time{}
	return true
}

// unheard reports whether the engine has been out of reach for so long.
func (e *engine) unheard(d time.Duration) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.cutOff.IsZero() && time.Since(e.cutOff) >= d
}

// act publishes what the engine does.
func (e *engine) act(events func(*model) []event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if batch := events(e.model); len(batch) > 0 {
		e.publish(batch)
	}
}

// heal ends all faults. One more message, with nothing in it, shows what was lost
// for good before it.
func (e *engine) heal() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.faults, e.cutOff = false, time.Time{}
	e.publish([]event{})
}

// note records what is true now.
func (e *engine) note() {
	answers := make([]int, len(e.universe.probes))
	for i, p := range e.universe.probes {
		answers[i] = e.model.reuse(p)
	}
	e.truth = append(e.truth, answers)
}

func (e *engine) publish(batch []event) {
	e.note()
	m := kvevents.Message{Sequence: e.sequence, Payload: encode(float64(len(e.truth)-1), batch)}
	e.sequence++
	e.buffer = append(e.buffer, m)
	if e.retain > 0 && len(e.buffer) > e.retain {
		e.buffer = e.buffer[1:]
	}
	if !e.faults {
		e.send(m)
		return
	}
	switch e.rng.IntN(24) {
	case 0: // lost
	case 1: // lost, and maybe for good
		if e.retain > 0 {
			e.buffer = e.buffer[:len(e.buffer)-1]
		}
	case 2: // twice
		e.send(m)
		e.send(m)
	case 3: // late
		if e.held == nil {
			e.held = &m
			return
		}
		e.send(m)
	default:
		e.send(m)
	}
}

// send delivers a message, and after it one that was late.
func (e *engine) send(m kvevents.Message) {
	late := e.held
	e.held = nil
	for _, message := range []*kvevents.Message{&m, late} {
		if message == nil || e.live == nil {
			continue
		}
		select {
		case e.live.messages <- *message:
		default: // a publisher never waits
		}
	}
}

// Subscribe implements source.Engine.
func (e *engine) Subscribe(ctx context.Context) (source.Stream, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.cutOff.IsZero() || e.faults && e.rng.IntN(8) == 0 {
		return nil, errors.New("connection refused")
	}
	e.live = &liveStream{ended: ctx, messages: make(chan kvevents.Message, 64)}
	return e.live, nil
}

// Replayable implements source.Engine.
func (e *engine) Replayable() bool { return true }

// Replay implements source.Engine with the promises of kvevents.Replay: what is
// delivered has no gap.
func (e *engine) Replay(ctx context.Context, start uint64, fn func(kvevents.Message) error) (kvevents.ReplayResult, error) {
	if e.unheard(0) {
		return kvevents.ReplayResult{First: start, Next: start}, errors.New("connection refused")
	}
	answer, result := e.answer(start)
	for _, m := range answer {
		if err := ctx.Err(); err != nil {
			return result, err
		}
		if err := fn(m); err != nil {
			return result, err
		}
		result.Delivered++
		result.Next = m.Sequence + 1
	}
	return result, nil
}

// answer is what the replay socket delivers. It may lose messages behind the
// first one, and the end, but not every time.
func (e *engine) answer(start uint64) (answer []kvevents.Message, result kvevents.ReplayResult) {
	e.mu.Lock()
	defer e.mu.Unlock()
	result = kvevents.ReplayResult{First: start, Next: start, Ended: true}
	for _, m := range e.buffer {
		if m.Sequence >= start {
			answer = append(answer, m)
		}
	}
	if len(answer) > 0 {
		result.First, result.Next = answer[0].Sequence, answer[0].Sequence
	}
	for i := range answer {
		if answer[i].Sequence != result.First+uint64(i) {
			result.Hole, result.Discarded = true, len(answer)-i
			return answer[:i], result
		}
	}
	if e.clumsy = e.faults && !e.clumsy && len(answer) > 1; !e.clumsy {
		return answer, result
	}
	cut := 1 + e.rng.IntN(len(answer)-1)
	switch e.rng.IntN(6) {
	case 0:
		result.Hole = cut < len(answer)-1
		result.Discarded = len(answer) - 1 - cut
		result.Ended = result.Hole
		answer = answer[:cut]
	case 1:
		result.Ended = false
		answer = answer[:cut]
	}
	return answer, result
}

// liveStream is a live subscription.
type liveStream struct {
	ended    context.Context
	messages chan kvevents.Message
	deadline time.Time
}

// Next implements source.Stream.
func (s *liveStream) Next() (kvevents.Message, error) {
	timer := time.NewTimer(time.Until(s.deadline))
	defer timer.Stop()
	select {
	case m, ok := <-s.messages:
		if !ok {
			return kvevents.Message{}, io.EOF
		}
		return m, nil
	case <-timer.C:
		return kvevents.Message{}, os.ErrDeadlineExceeded
	case <-s.ended.Done():
		return kvevents.Message{}, s.ended.Err()
	}
}

// SetReadDeadline implements source.Stream.
func (s *liveStream) SetReadDeadline(t time.Time) error {
	s.deadline = t
	return nil
}

// Close implements source.Stream.
func (s *liveStream) Close() error { return nil }
