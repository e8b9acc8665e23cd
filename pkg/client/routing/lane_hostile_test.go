/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// within fails the test when something does not return. The limit is for what
// hangs, and measures nothing.
func within(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	hung := time.NewTimer(patience)
	defer hung.Stop()
	select {
	case <-done:
	case <-hung.C:
		t.Fatalf("%s does not return", what)
	}
}

// sentOn is how many lookups have gone out on a lane and are not answered.
func sentOn(l *lane) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sent
}

// TestIndexThatDoesNotRead asks an index that answers what it has not read, until
// nothing more fits into the stream. Every lookup is answered all the same, the
// stream is given up, and nothing is left of it after Close.
func TestIndexThatDoesNotRead(t *testing.T) {
	ca := newAuthority(t)
	before := runtime.NumGoroutine()
	index := startIndex(t, ca, "a")
	answers := make(chan struct{})
	deaf := func(stream lookupStream) error {
		for {
			select {
			case <-answers:
			case <-stream.Context().Done():
				return nil
			}
			if err := stream.Send(&pb.LookupRouteResponse{ReasonCode: "NO_HINT", Complete: true}); err != nil {
				return err
			}
		}
	}
	index.serve.Store(&deaf)
	options := testOptions(t, ca)
	options.Servers, options.Timeout, options.HealthInterval = []string{index.address}, 4*time.Second, time.Hour
	client := startClient(t, options)
	lane := awaitLane(t, client, index)
	query := Query{Tenant: "team", Model: "llama", Chain: make([]uint64, 7500)}
	for asked := 0; !lane.over(); asked++ {
		if asked == 1000 {
			t.Fatal("the stream takes everything")
		}
		done := make(chan Answer, 1)
		go func() { done <- client.Lookup(t.Context(), query) }()
		await(t, "the lookup to go out", func() bool { return len(done) > 0 || sentOn(lane) > 0 || lane.over() })
		if sentOn(lane) > 0 {
			select {
			case answers <- struct{}{}:
			case <-lane.ended:
			}
		}
		within(t, "the lookup", func() {
			if answer := <-done; answer.Err != nil {
				t.Errorf("lookup %d: answer %+v", asked, answer)
			}
		})
	}
	if !lane.broken.Load() || index.calls.Load() == 0 {
		t.Errorf("given up: %v, then %d calls", lane.broken.Load(), index.calls.Load())
	}
	within(t, "a health check", func() { new(lanePace).keep(peerOf(client, index)) })
	within(t, "Close", client.Close)
	index.server.Stop()
	await(t, "the end of all goroutines", func() bool { return runtime.NumGoroutine() <= before })
}

// TestIndexThatAnswersTwice holds that a lookup does not get the answer of another
// one from an index that sends more answers than it was asked for.
func TestIndexThatAnswersTwice(t *testing.T) {
	index := startIndex(t, newAuthority(t), "a")
	twice := func(stream lookupStream) error {
		for {
			request, err := stream.Recv()
			if err != nil {
				return nil
			}
			response, err := index.match(stream.Context(), request)
			if err != nil {
				return err
			}
			for range 2 {
				if err := stream.Send(response); err != nil {
					return err
				}
			}
		}
	}
	index.serve.Store(&twice)
	client := newTestClient(t, index)
	lane := awaitLane(t, client, index)
	together(8, func(caller int) {
		for i := range 50 {
			query := aQuery()
			query.Adapter = fmt.Sprintf("%d-%d", caller, i)
			answer := client.Lookup(t.Context(), query)
			if best, _ := answer.Best(); best.ID != "engine-"+query.Adapter {
				t.Errorf("%s got the answer of %s (%v)", query.Adapter, best.ID, answer.Err)
				return
			}
		}
	})
	await(t, "the stream to be given up", lane.over)
}

// scripted is the stream of a connection of which nothing else is used. It gives
// the answers it is given, and sends until it is told to block.
type scripted struct {
	pb.InferenceCacheClient
	grpc.ClientStream

	ctx     context.Context
	answers chan *pb.LookupRouteResponse
	blocks  bool
	sending atomic.Int64
}

// openScripted opens a lane on a scripted stream.
func openScripted(t *testing.T, blocks bool, limit time.Duration) (*scripted, *lane) {
	t.Helper()
	s := &scripted{answers: make(chan *pb.LookupRouteResponse), blocks: blocks}
	l, err := openLane(t.Context(), s, limit, patience)
	if err != nil {
		t.Fatal(err)
	}
	return s, l
}

// LookupRouteStream implements pb.InferenceCacheClient.
func (s *scripted) LookupRouteStream(ctx context.Context, _ ...grpc.CallOption) (grpc.BidiStreamingClient[pb.LookupRouteRequest, pb.LookupRouteResponse], error) {
	s.ctx = ctx
	return s, nil
}

// Send implements grpc.BidiStreamingClient.
func (s *scripted) Send(*pb.LookupRouteRequest) error {
	s.sending.Add(1)
	if s.blocks {
		<-s.ctx.Done()
	}
	return s.ctx.Err()
}

// CloseSend implements grpc.ClientStream. The other side does not care.
func (s *scripted) CloseSend() error { return nil }

// Recv implements grpc.BidiStreamingClient.
func (s *scripted) Recv() (*pb.LookupRouteResponse, error) {
	select {
	case answer := <-s.answers:
		return answer, nil
	case <-s.ctx.Done():
		return nil, s.ctx.Err()
	}
}

// TestAnswersWithoutQuestion holds that a stream ends with the first answer that
// belongs to no lookup, that it reaches nobody, and that those who wait are told.
func TestAnswersWithoutQuestion(t *testing.T) {
	cases := map[string]struct {
		asked, answers []string
		blocks         bool
		answered       int64
	}{
		"nothing was asked":    {nil, []string{"a"}, false, 0},
		"one too many":         {[]string{"a"}, []string{"a", "a"}, false, 1},
		"to what is not sent":  {[]string{"a", "a"}, []string{"a", "a"}, true, 1},
		"of another adapter":   {[]string{"a", "b"}, []string{"b"}, false, 0},
		"of the base model":    {[]string{"a"}, []string{""}, false, 0},
		"twice on a busy lane": {[]string{"a", "b", "c"}, []string{"a", "a"}, false, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			stream, lane := openScripted(t, tc.blocks, patience)
			var answered, failed atomic.Int64
			for _, adapter := range tc.asked {
				taken := lane.ask(&pb.LookupRouteRequest{AdapterId: adapter}, func(response *pb.LookupRouteResponse, err error) {
					if err != nil {
						failed.Add(1)
					} else if answered.Add(1); response.GetAdapterId() != adapter {
						t.Errorf("%s got the answer of %s", adapter, response.GetAdapterId())
					}
				})
				if !taken {
					t.Fatal("a lookup is not taken")
				}
			}
			want := int64(len(tc.asked))
			await(t, "the lookups to go out", func() bool { return stream.sending.Load() == want || (tc.blocks && stream.sending.Load() == 1) })
			for _, adapter := range tc.answers {
				stream.answers <- &pb.LookupRouteResponse{AdapterId: adapter}
			}
			await(t, "the end of the stream", lane.over)
			if answered.Load() != tc.answered || failed.Load() != want-tc.answered || !lane.broken.Load() {
				t.Errorf("%d answered and %d failed, want %d of %d answered", answered.Load(), failed.Load(), tc.answered, want)
			}
			if lane.ask(&pb.LookupRouteRequest{}, nil) {
				t.Error("the stream takes lookups")
			}
		})
	}
}

// TestLaneThatStandsStill holds that nobody waits for a replica that takes nothing
// off a stream, or does not end it, and that the stream ends by itself.
func TestLaneThatStandsStill(t *testing.T) {
	cases := map[string]struct {
		blocks      bool
		asked, sent int
		// answer has the first lookup answered while it is being sent.
		answer, retire bool
	}{
		"no answer":                      {false, 3, 3, false, false},
		"no send":                        {true, laneLookups, 1, false, false},
		"no send, and answers":           {true, 1, 1, true, false},
		"no send, and more to ask":       {true, 3, 1, true, false},
		"no send, retired":               {true, 3, 1, false, true},
		"no answer, retired":             {false, 3, 3, false, true},
		"nothing asked, retired":         {false, 0, 0, false, true},
		"no send, and answers, retired":  {true, 1, 1, true, true},
		"everything answered, not ended": {false, 1, 1, true, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			stream, lane := openScripted(t, tc.blocks, 50*time.Millisecond)
			var replies, taken atomic.Int64
			within(t, "asking", func() {
				for range tc.asked {
					if lane.ask(&pb.LookupRouteRequest{}, func(*pb.LookupRouteResponse, error) { replies.Add(1) }) {
						taken.Add(1)
					}
				}
			})
			await(t, "the lookups to go out", func() bool { return lane.over() || stream.sending.Load() == int64(tc.sent) })
			if tc.answer {
				select {
				case stream.answers <- &pb.LookupRouteResponse{}:
				case <-lane.ended: // a slow machine
				}
			}
			if tc.retire {
				within(t, "retiring", lane.retire)
			}
			await(t, "the end of the stream", lane.over)
			if replies.Load() != taken.Load() {
				t.Errorf("%d replies to %d lookups", replies.Load(), taken.Load())
			}
		})
	}
}

// unopened is a connection that never opens a stream.
type unopened struct{ pb.InferenceCacheClient }

// LookupRouteStream implements pb.InferenceCacheClient.
func (unopened) LookupRouteStream(ctx context.Context, _ ...grpc.CallOption) (grpc.BidiStreamingClient[pb.LookupRouteRequest, pb.LookupRouteResponse], error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestStreamThatDoesNotOpen holds that opening is given up.
func TestStreamThatDoesNotOpen(t *testing.T) {
	within(t, "opening", func() {
		if _, err := openLane(t.Context(), unopened{}, patience, time.Millisecond); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}
