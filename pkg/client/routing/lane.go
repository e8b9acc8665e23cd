/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"context"
	"errors"
	"slices"
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
	// laneBytes is how many bytes of them may be under way when one more is taken.
	// gRPC lets a stream buffer 64 KiB before sending blocks, and then a lookup had
	// better be a call than wait for those before it.
	laneBytes = 48 << 10
	// laneMessage is the largest lookup that shares a stream; those behind it would
	// wait for its bytes.
	laneMessage = 128 << 10
	// lanePatience is into how many parts the time of a lookup is divided; when one
	// of them goes by and a lane has not moved, the rest is left for calls.
	lanePatience = 2
)

// errLane says that a stream ended before an answer came.
var errLane = errors.New("the stream has ended")

// lane is a stream of lookups to one replica, which answers them in the order in
// which they are sent. It trusts the replica with nothing: whoever asks never waits
// for it, and a lane that does not move, or on which answers and lookups do not
// match, ends by itself. It is safe for concurrent use.
type lane struct {
	stream grpc.BidiStreamingClient[pb.LookupRouteRequest, pb.LookupRouteResponse]
	cancel context.CancelFunc
	opened time.Time
	// patience is how long the lane may stand still while something is due.
	patience time.Duration
	// answered is set by the first answer, and broken when the replica does not
	// keep to the contract.
	answered, broken atomic.Bool
	// ended is closed when nothing waits any more.
	ended chan struct{}

	// mu guards the rest. Nothing that the replica can delay happens under it.
	mu sync.Mutex
	// wake tells the writer that waiting or closed has changed.
	wake *sync.Cond
	// waiting has the lookups that are not answered, oldest first, and bytes their
	// size. The first sent of them have gone out, or are just going.
	waiting []waiter
	sent    int
	bytes   int
	// closed says that no more lookups are taken, and failed that the stream is over.
	closed, failed bool
	// moved is when the last answer came, or when there began to be something due.
	moved time.Time
	// sending is when the send under way began, zero when there is none.
	sending time.Time
	// watch calls check; watched says that it will.
	watch   *time.Timer
	watched bool
}

// waiter is one lookup that waits. reply is called once, and does not block.
type waiter struct {
	request *pb.LookupRouteRequest
	bytes   int
	reply   func(*pb.LookupRouteResponse, error)
}

// openLane opens a stream on a connection that has been used before, so that
// opening seldom waits for it, and then not for longer than limit.
func openLane(ctx context.Context, client pb.InferenceCacheClient, patience, limit time.Duration) (*lane, error) {
	ctx, cancel := context.WithCancel(ctx)
	late := time.AfterFunc(limit, cancel)
	defer late.Stop()
	stream, err := client.LookupRouteStream(ctx)
	if err != nil {
		cancel()
		return nil, err
	}
	l := &lane{stream: stream, cancel: cancel, opened: time.Now(), patience: patience, ended: make(chan struct{})}
	l.wake = sync.NewCond(&l.mu)
	go l.read()
	go l.write()
	return l, nil
}

// ask takes a lookup and returns at once. It returns false when the lane does not
// take it; else reply is called with the answer or with the lane's end.
func (l *lane) ask(request *pb.LookupRouteRequest, reply func(*pb.LookupRouteResponse, error)) bool {
	size := proto.Size(request)
	if size > laneMessage {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.waiting) == laneLookups || l.bytes > laneBytes {
		return false
	}
	if len(l.waiting) == 0 {
		l.moved = time.Now()
	}
	l.waiting = append(l.waiting, waiter{request: request, bytes: size, reply: reply})
	l.bytes += size
	l.watchLocked(l.patience)
	l.wake.Signal()
	return true
}

// write sends what is asked, until the lane takes no more and everything is sent.
func (l *lane) write() {
	for {
		request := l.next()
		if request == nil {
			_ = l.stream.CloseSend() // it never fails
			return
		}
		if err := l.stream.Send(request); err != nil {
			l.cancel() // the reader tells everyone
			return
		}
	}
}

// next waits for a lookup to send. It returns nil when there will be none. The
// lookup counts as sent from here on, because its answer may come before Send
// returns.
func (l *lane) next() *pb.LookupRouteRequest {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sending = time.Time{}
	for l.sent == len(l.waiting) && !l.closed {
		l.wake.Wait()
	}
	if l.sent == len(l.waiting) {
		return nil
	}
	l.sent++
	l.sending = time.Now()
	return l.waiting[l.sent-1].request
}

// read hands answers out until the stream ends.
func (l *lane) read() {
	defer close(l.ended)
	defer l.fail()
	for {
		response, err := l.stream.Recv()
		if err != nil {
			return
		}
		of, ok := l.match(response)
		if !ok {
			l.broken.Store(true)
			return
		}
		l.answered.Store(true)
		of.reply(response, nil)
	}
}

// match returns the lookup that an answer is for. It returns false when the answer
// belongs to none: nothing was asked, or it speaks of another adapter than the
// lookup whose turn it is. Whose the answers after it are cannot be known.
func (l *lane) match(response *pb.LookupRouteResponse) (waiter, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sent == 0 || l.waiting[0].request.GetAdapterId() != response.GetAdapterId() {
		return waiter{}, false
	}
	of := l.waiting[0]
	l.waiting = slices.Delete(l.waiting, 0, 1)
	l.sent--
	l.bytes -= of.bytes
	l.moved = time.Now()
	return of, true
}

// fail ends the stream, tells all that wait, and takes no more.
func (l *lane) fail() {
	l.cancel()
	l.mu.Lock()
	waiting := l.waiting
	l.waiting, l.sent, l.bytes = nil, 0, 0
	l.closed, l.failed = true, true
	if l.watched {
		l.watch.Stop()
	}
	l.wake.Signal()
	l.mu.Unlock()
	for _, w := range waiting {
		w.reply(nil, errLane)
	}
}

// retire takes no more lookups; those that wait are still answered.
func (l *lane) retire() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.closed = true
	if len(l.waiting) == 0 {
		l.moved = time.Now()
	}
	// From now on the end of the stream is due as well.
	l.watchLocked(l.patience)
	l.wake.Signal()
}

// watchLocked has check called after some time, unless it will be called anyway.
// An idle lane needs no timer, and a busy one sets it once per patience.
func (l *lane) watchLocked(after time.Duration) {
	switch {
	case l.watched:
		return
	case l.watch == nil:
		l.watch = time.AfterFunc(after, l.check)
	default:
		l.watch.Reset(after)
	}
	l.watched = true
}

// check ends a lane that stands still.
func (l *lane) check() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watched = false
	if l.failed {
		return
	}
	var since time.Time
	if len(l.waiting) > 0 || l.closed {
		since = l.moved
	}
	// Answers are no sign that the replica reads: a send has to end in time too.
	if !l.sending.IsZero() && (since.IsZero() || l.sending.Before(since)) {
		since = l.sending
	}
	if since.IsZero() {
		return
	}
	if left := l.patience - time.Since(since); left > 0 {
		l.watchLocked(left)
		return
	}
	l.broken.Store(true)
	l.cancel()
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
