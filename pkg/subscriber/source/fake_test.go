/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package source

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"time"

	"inferencecache.io/inference-cache/pkg/kvevents"
)

// step is one thing that happens to a scripted engine while it is listened to.
type step func(*fakeEngine) (kvevents.Message, error)

// errNothing makes Next go on with the following step.
var errNothing = errors.New("nothing to deliver")

// publish makes the next message; live ones also reach the subscriber.
func live(e *fakeEngine) (kvevents.Message, error) { return e.publish(), nil }

// missed is a message that the subscriber does not get.
func missed(e *fakeEngine) (kvevents.Message, error) {
	e.publish()
	return kvevents.Message{}, errNothing
}

// again delivers the newest message a second time.
func again(e *fakeEngine) (kvevents.Message, error) { return e.kept[len(e.kept)-1], nil }

// idle lets the read deadline pass.
func idle(*fakeEngine) (kvevents.Message, error) {
	return kvevents.Message{}, os.ErrDeadlineExceeded
}

// broken ends the connection.
func broken(*fakeEngine) (kvevents.Message, error) { return kvevents.Message{}, io.ErrUnexpectedEOF }

// noMessage delivers frames that are no message.
func noMessage(*fakeEngine) (kvevents.Message, error) {
	return kvevents.Message{}, fmt.Errorf("%w: a test", kvevents.ErrMessage)
}

// garbage publishes a message whose payload cannot be decoded.
func garbage(e *fakeEngine) (kvevents.Message, error) {
	m := e.publish()
	m.Payload = []byte{0xc1}
	e.kept[len(e.kept)-1] = m
	return m, nil
}

// restart begins a new engine process.
func restart(e *fakeEngine) (kvevents.Message, error) {
	e.generation++
	e.next, e.kept = 0, nil
	return kvevents.Message{}, errNothing
}

// crash is a restart as it really is: connections end with the process.
func crash(e *fakeEngine) (kvevents.Message, error) {
	_, _ = restart(e)
	return broken(e)
}

// forget drops all but the newest messages from the memory for replays.
func forget(keep int) step {
	return func(e *fakeEngine) (kvevents.Message, error) {
		e.kept = e.kept[max(0, len(e.kept)-keep):]
		return kvevents.Message{}, errNothing
	}
}

// gone publishes a message that nobody will ever get.
func gone(e *fakeEngine) (kvevents.Message, error) {
	e.publish()
	e.kept = e.kept[:len(e.kept)-1]
	return kvevents.Message{}, errNothing
}

// hole makes the next replay lose its nth message.
func hole(nth int) step {
	return func(e *fakeEngine) (kvevents.Message, error) {
		e.hole = nth
		return kvevents.Message{}, errNothing
	}
}

// deaf makes replays fail from here on, hearing ends that.
func deaf(e *fakeEngine) (kvevents.Message, error) {
	e.deaf = true
	return kvevents.Message{}, errNothing
}

func hearing(e *fakeEngine) (kvevents.Message, error) {
	e.deaf = false
	return kvevents.Message{}, errNothing
}

// fakeEngine is an engine that follows a script. When the script is over it ends
// the test's context.
type fakeEngine struct {
	script     []step
	unreplayed bool
	end        context.CancelFunc

	generation int
	next       uint64
	kept       []kvevents.Message
	hole       int
	deaf       bool
	// refusals is how many attempts to subscribe will fail.
	refusals int
}

// publish makes the next message and keeps it for replays. Its only content is a
// time, by which the message can be recognised.
func (e *fakeEngine) publish() kvevents.Message {
	payload := append([]byte{0x92, 0xcb}, binary.BigEndian.AppendUint64(nil, math.Float64bits(float64(1000*e.generation)+float64(e.next)))...)
	m := kvevents.Message{Sequence: e.next, Payload: append(payload, 0x90)}
	e.next++
	e.kept = append(e.kept, m)
	return m
}

func (e *fakeEngine) Subscribe(ctx context.Context) (Stream, error) {
	if e.refusals > 0 {
		e.refusals--
		return nil, errors.New("connection refused")
	}
	return &fakeStream{engine: e}, ctx.Err()
}

func (e *fakeEngine) Replayable() bool { return !e.unreplayed }

func (e *fakeEngine) Replay(_ context.Context, start uint64, fn func(kvevents.Message) error) (kvevents.ReplayResult, error) {
	result := kvevents.ReplayResult{First: start, Next: start}
	if e.deaf {
		return result, errors.New("connection refused")
	}
	lose := e.hole
	e.hole = 0
	for _, m := range e.kept {
		if m.Sequence < start {
			continue
		}
		if lose--; lose == 0 {
			result.Hole = result.Delivered > 0
			continue
		}
		result.Hole = result.Hole || (result.Delivered > 0 && m.Sequence != result.Next)
		if result.Hole {
			result.Discarded++
			continue
		}
		if err := fn(m); err != nil {
			return result, err
		}
		if result.Delivered == 0 {
			result.First = m.Sequence
		}
		result.Delivered++
		result.Next = m.Sequence + 1
	}
	result.Ended = true
	return result, nil
}

// fakeStream delivers what the script says.
type fakeStream struct{ engine *fakeEngine }

func (s *fakeStream) Next() (kvevents.Message, error) {
	for len(s.engine.script) > 0 {
		next := s.engine.script[0]
		s.engine.script = s.engine.script[1:]
		m, err := next(s.engine)
		if !errors.Is(err, errNothing) {
			return m, err
		}
	}
	s.engine.end()
	return kvevents.Message{}, context.Canceled
}

func (*fakeStream) SetReadDeadline(time.Time) error { return nil }

func (*fakeStream) Close() error { return nil }

// log is a sink that writes down what it is told: lines of what the engine has,
// and links of its stream, each with the number of lines before it.
type log struct{ lines, links []string }

func (l *log) Absorb(batch *kvevents.Batch) {
	l.lines = append(l.lines, fmt.Sprint(batch.Timestamp))
}

func (l *log) Restart(degraded string) { l.lines = append(l.lines, "restart "+degraded) }

func (l *log) Degrade(reason string) { l.lines = append(l.lines, "degrade "+reason) }

func (l *log) Connected() { l.links = append(l.links, fmt.Sprint("connected at ", len(l.lines))) }

func (l *log) Disconnected() {
	l.links = append(l.links, fmt.Sprint("disconnected at ", len(l.lines)))
}

// stamp is how a log writes a message of an engine process.
func stamp(generation int, sequence uint64) string {
	return fmt.Sprint(float64(1000*generation) + float64(sequence))
}

// newRandom returns a source of numbers that depends on the seed only.
func newRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }
