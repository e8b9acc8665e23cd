/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// Bounds of a lane.
const (
	// laneLookups is how many lookups may wait for their answers on one stream.
	laneLookups = 256
	// laneBytes is how many bytes of them may be under way when one more is sent.
	// gRPC lets a stream buffer 64 KiB before sending blocks, and a lookup must not
	// be blocked by those before it.
	laneBytes = 48 << 10
	// laneMessage is the largest lookup that shares a stream; those behind it would
	// wait for its bytes.
	laneMessage = 128 << 10
	// laneLife is how long a stream is used, so that the index sees a new token and
	// a renewed permission soon.
	laneLife = time.Minute
	// laneMaxPause is the longest time between attempts to open a stream.
	laneMaxPause = time.Minute
)

// errLane says that a stream ended before an answer came.
var errLane = errors.New("the stream has ended")

// lane is a stream of lookups to one replica, which answers them in the order in
// which they are sent. It is safe for concurrent use.
type lane struct {
	stream grpc.BidiStreamingClient[pb.LookupRouteRequest, pb.LookupRouteResponse]
	cancel context.CancelFunc
	opened time.Time

	// waiting has the lookups that are not answered, oldest first, and bytes their
	// size.
	waiting chan waiter
	bytes   atomic.Int64
	// progress is when the last answer came, or when the lane had nothing to
	// answer, in nanoseconds since opened.
	progress atomic.Int64
	// answered is set by the first answer.
	answered atomic.Bool

	// mu orders sends, and closed says that there are no more.
	mu     sync.Mutex
	closed bool
	// ended is closed when nothing waits any more.
	ended chan struct{}
}

// waiter is one lookup that waits. reply is called once, and does not block.
type waiter struct {
	bytes int64
	reply func(*pb.LookupRouteResponse, error)
}

// openLane opens a stream on a connection that has been used before, so that
// opening does not wait for it.
func openLane(ctx context.Context, client pb.InferenceCacheClient) (*lane, error) {
	ctx, cancel := context.WithCancel(ctx)
	stream, err := client.LookupRouteStream(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	l := &lane{
		stream: stream, cancel: cancel, opened: time.Now(),
		waiting: make(chan waiter, laneLookups), ended: make(chan struct{}),
	}
	go l.read()
	return l, nil
}

// ask sends a lookup and returns at once. It returns false when the lane does not
// take it; else reply is called with the answer or with the lane's end.
func (l *lane) ask(request *pb.LookupRouteRequest, reply func(*pb.LookupRouteResponse, error)) bool {
	size := int64(proto.Size(request))
	if size > laneMessage || l.bytes.Load() > laneBytes {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	before := l.bytes.Load()
	if l.closed || before > laneBytes {
		return false
	}
	if before == 0 {
		l.progress.Store(int64(time.Since(l.opened)))
	}
	// Before it is sent, because the answer may come before Send returns.
	select {
	case l.waiting <- waiter{bytes: size, reply: reply}:
	default:
		return false
	}
	l.bytes.Add(size)
	// An error ends the stream as well; the reader tells everyone.
	_ = l.stream.Send(request)
	return true
}

// read hands answers out until the stream ends.
func (l *lane) read() {
	defer close(l.ended)
	defer l.cancel()
	for {
		response, err := l.stream.Recv()
		if err != nil {
			l.fail()
			return
		}
		select {
		case w := <-l.waiting:
			l.bytes.Add(-w.bytes)
			l.progress.Store(int64(time.Since(l.opened)))
			l.answered.Store(true)
			w.reply(response, nil)
		default:
			// Nothing was asked: whose answer the next one is cannot be known.
			l.fail()
			return
		}
	}
}

// fail tells all that wait, and takes no more.
func (l *lane) fail() {
	l.cancel()
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	for {
		select {
		case w := <-l.waiting:
			w.reply(nil, errLane)
		default:
			return
		}
	}
}

// retire takes no more lookups; those that wait are still answered.
func (l *lane) retire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.closed = true
		_ = l.stream.CloseSend() // it never fails
	}
}

// stalled tells whether the oldest lookup has been waiting for longer than
// patience.
func (l *lane) stalled(patience time.Duration) bool {
	return l.bytes.Load() > 0 && time.Since(l.opened)-time.Duration(l.progress.Load()) > patience
}

// over tells whether the lane has ended.
func (l *lane) over() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}

// lanePace opens and closes the lanes of one peer. It belongs to one goroutine.
type lanePace struct {
	// life is how long a lane is used.
	life        time.Duration
	pause, next time.Duration
	begun       time.Time
}

// keep looks after the lane of a peer: it ends one that does not move, replaces
// one that is old, and opens one where there is none. An index that cannot stream
// is asked ever more rarely.
func (l *lanePace) keep(p *peer) {
	if l.begun.IsZero() {
		l.begun = time.Now()
	}
	current := p.lane.Load()
	if current != nil {
		if current.stalled(max(p.options.HealthInterval, p.options.Timeout/paces)) {
			current.cancel()
		}
		if current.answered.Load() {
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
	fresh, err := openLane(p.ctx, p.client)
	if err != nil {
		p.options.Logger.V(5).Info("No stream to the index replica", "address", p.address, "err", err.Error())
		return
	}
	p.lane.Store(fresh)
	if current != nil {
		current.retire()
	}
}
