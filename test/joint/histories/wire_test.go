/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package histories

import (
	"context"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/indexserver"
)

// wire is the network between subscribers and one address of the index.
type wire struct {
	mu sync.Mutex
	// server listens at the address; nil while nobody does.
	server *indexserver.Server
	// faults: streams lose, repeat, reorder and delay messages.
	faults  bool
	streams map[*stream]struct{}
	// opened counts streams per holder: each end of each has random numbers of its
	// own, so that the order of goroutines does not change them.
	opened map[string]uint64
	seed   uint64
}

func newWire(seed uint64) *wire {
	return &wire{faults: true, streams: map[*stream]struct{}{}, opened: map[string]uint64{}, seed: seed}
}

// cut ends open streams. With half set only the client notices.
func (w *wire) cut(half bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for s := range w.streams {
		s.cutClient()
		if !half {
			s.cutServer()
		}
	}
}

// listen replaces the server; nil is a machine that is down.
func (w *wire) listen(server *indexserver.Server) {
	w.cut(false)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.server = server
}

func (w *wire) heal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = false
}

func (w *wire) faulty() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.faults
}

// caller is the client of one subscriber at this address.
type caller struct {
	pb.InferenceCacheClient

	wire *wire
	name string
}

// Close implements io.Closer.
func (c *caller) Close() error { return nil }

// Report opens a stream and starts the server's end of it.
func (c *caller) Report(ctx context.Context, _ ...grpc.CallOption) (grpc.BidiStreamingClient[pb.ReportRequest, pb.ReportResponse], error) {
	w := c.wire
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.server == nil {
		return nil, status.Error(codes.Unavailable, "connection refused")
	}
	w.opened[c.name]++
	s := &stream{
		wire: w, requests: make(chan *pb.ReportRequest, 64), responses: make(chan *pb.ReportResponse, 64),
		finished: make(chan struct{}),
	}
	s.client, s.cutClient = context.WithCancel(ctx)
	s.server, s.cutServer = context.WithCancel(indexserver.WithIdentity(context.Background(), indexserver.Identity{Name: "test"}))
	context.AfterFunc(ctx, s.cutServer)
	w.streams[s] = struct{}{}
	random := func(end uint64) *rand.Rand {
		return rand.New(rand.NewPCG(w.seed^w.opened[c.name]<<32, 2*uint64(c.name[len(c.name)-1])+end))
	}
	go s.serve(w.server, &serverEnd{stream: s, rng: random(0)})
	return &clientEnd{stream: s, rng: random(1)}, nil
}

// stream is a report stream with its two directions.
type stream struct {
	wire      *wire
	requests  chan *pb.ReportRequest
	responses chan *pb.ReportResponse

	client, server       context.Context
	cutClient, cutServer context.CancelFunc
	// finished is closed when the server has ended the stream with err.
	finished chan struct{}
	err      error
}

func (s *stream) serve(server *indexserver.Server, end *serverEnd) {
	s.err = server.Report(end)
	close(s.finished)
	s.cutServer()
	s.wire.mu.Lock()
	defer s.wire.mu.Unlock()
	delete(s.wire.streams, s)
}

// end is why the client's end is over.
func (s *stream) end() error {
	select {
	case <-s.finished:
		if s.err == nil {
			return io.EOF
		}
		return s.err
	default:
		return status.Error(codes.Unavailable, "connection lost")
	}
}

// clientEnd is used by a subscriber's session.
type clientEnd struct {
	grpc.ClientStream

	stream *stream
	rng    *rand.Rand
	// held is a delta that is overtaken by the next message.
	held *pb.ReportRequest
}

// Send puts a message on its way. Only deltas meet faults: what gets lost of a
// snapshot or a hello ends the stream, which a cut does as well.
func (c *clientEnd) Send(request *pb.ReportRequest) error {
	messages := []*pb.ReportRequest{request}
	if request.GetDelta() != nil && c.stream.wire.faulty() {
		switch c.rng.IntN(20) {
		case 0:
			messages = nil
		case 1:
			messages = append(messages, request)
		case 2:
			if c.held == nil {
				c.held = request
				return nil
			}
		}
	}
	if c.held != nil {
		messages = append(messages, c.held)
		c.held = nil
	}
	for _, m := range messages {
		select {
		case c.stream.requests <- m:
		case <-c.stream.client.Done():
			return io.EOF
		case <-c.stream.finished:
			return io.EOF
		}
	}
	return nil
}

// Recv waits for an answer.
func (c *clientEnd) Recv() (*pb.ReportResponse, error) {
	select {
	case response := <-c.stream.responses:
		return response, nil
	case <-c.stream.client.Done():
	case <-c.stream.finished:
	}
	return nil, c.stream.end()
}

// serverEnd is used by the index server.
type serverEnd struct {
	grpc.ServerStream

	stream *stream
	rng    *rand.Rand
}

// Context implements grpc.ServerStream.
func (e *serverEnd) Context() context.Context { return e.stream.server }

// Recv waits for a message, which may take its time on the way.
func (e *serverEnd) Recv() (*pb.ReportRequest, error) {
	select {
	case request := <-e.stream.requests:
		if e.rng.IntN(8) == 0 && e.stream.wire.faulty() {
			pass(time.Duration(e.rng.IntN(200)) * time.Millisecond)
		}
		return request, nil
	case <-e.stream.server.Done():
		return nil, status.Error(codes.Canceled, "connection lost")
	}
}

// Send puts an answer on its way.
func (e *serverEnd) Send(response *pb.ReportResponse) error {
	select {
	case e.stream.responses <- response:
		return nil
	case <-e.stream.server.Done():
		return status.Error(codes.Canceled, "connection lost")
	}
}
