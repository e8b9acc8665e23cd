/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package report

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// fakeIndex is the other side of one stream.
type fakeIndex struct {
	grpc.ClientStream
	pb.InferenceCacheClient
	ctx  context.Context
	sent chan *pb.ReportRequest
	// answers are what the index says; closing them ends the stream.
	answers chan *pb.ReportResponse
}

func newFakeIndex() *fakeIndex {
	return &fakeIndex{sent: make(chan *pb.ReportRequest), answers: make(chan *pb.ReportResponse, 16)}
}

func (f *fakeIndex) Report(ctx context.Context, _ ...grpc.CallOption) (pb.InferenceCache_ReportClient, error) {
	f.ctx = ctx
	return f, nil
}

func (f *fakeIndex) Send(request *pb.ReportRequest) error {
	select {
	case f.sent <- request:
		return nil
	case <-f.ctx.Done():
		return f.ctx.Err()
	}
}

func (f *fakeIndex) Recv() (*pb.ReportResponse, error) {
	select {
	case answer, ok := <-f.answers:
		if !ok {
			return nil, io.EOF
		}
		return answer, nil
	case <-f.ctx.Done():
		return nil, f.ctx.Err()
	}
}

// conversation is a session under test.
type conversation struct {
	*fakeIndex
	t       *testing.T
	journal *Journal
	ticks   *clocktesting.FakeClock
	ended   chan error
}

// converse starts a session that the index answers with a reply.
func converse(t *testing.T, j *Journal, reply *pb.HelloReply) *conversation {
	t.Helper()
	return converseAt(t, gateAt(clocktesting.NewFakeClock(start())), j, reply)
}

// converseAt starts one whose snapshots go through a gate with a fake clock.
func converseAt(t *testing.T, g *gate, j *Journal, reply *pb.HelloReply) *conversation {
	t.Helper()
	ticks, _ := g.clock.(*clocktesting.FakeClock)
	c := &conversation{fakeIndex: newFakeIndex(), t: t, journal: j, ticks: ticks, ended: make(chan error, 1)}
	c.answers <- &pb.ReportResponse{Message: &pb.ReportResponse_Hello{Hello: reply}}
	metrics := NewMetrics(prometheus.NewRegistry()).session("index", 0)
	go func() {
		_, err := runSession(t.Context(), c, j, Identity{Pod: "pod-0", Tenant: "t", Backend: "b", Engine: "vllm"}, g, metrics)
		c.ended <- err
	}()
	return c
}

// gateAt returns a gate that puts nothing off.
func gateAt(c clock.WithTicker) *gate {
	g := newGate(c)
	g.spread = func(time.Duration) time.Duration { return 0 }
	return g
}

// next returns the next message of the session.
func (c *conversation) next() *pb.ReportRequest {
	c.t.Helper()
	timeout := time.NewTimer(10 * time.Second)
	defer timeout.Stop()
	select {
	case request := <-c.sent:
		return request
	case err := <-c.ended:
		c.t.Fatalf("the session ended: %v", err)
	case <-timeout.C:
		c.t.Fatal("the session is silent")
	}
	return nil
}

// expect checks the kinds of the next messages: the sequence of a delta, or minus
// that of a snapshot.
func (c *conversation) expect(want ...int64) {
	c.t.Helper()
	var got []int64
	for range want {
		switch m := c.next().GetMessage().(type) {
		case *pb.ReportRequest_Delta:
			got = append(got, int64(m.Delta.GetSequence()))
		case *pb.ReportRequest_Snapshot:
			got = append(got, -int64(m.Snapshot.GetSequence()))
		default:
			c.t.Fatalf("unexpected %v", m)
		}
	}
	if !slices.Equal(got, want) {
		c.t.Fatalf("got %v, want %v (deltas, and snapshots with a minus)", got, want)
	}
}

// journalWith returns a journal that has made so many deltas.
func journalWith(deltas int, opts JournalOptions) (*Journal, *delayedClock) {
	c := newDelayedClock()
	opts.Clock = c
	j := NewJournal(opts)
	for i := range deltas {
		j.Absorb(batchOf(uint64(i)+1, 2))
		c.advance(time.Second)
	}
	return j, c
}

func TestSessionBeginnings(t *testing.T) {
	tests := map[string]struct {
		deltas int
		opts   JournalOptions
		reply  *pb.HelloReply
		want   []int64
	}{
		"resumes":                       {deltas: 4, reply: &pb.HelloReply{ResumeFrom: 3}, want: []int64{3, 4}},
		"sends a snapshot":              {deltas: 4, reply: &pb.HelloReply{SnapshotWanted: true}, want: []int64{-4}},
		"cannot resume from so far":     {deltas: 4, opts: JournalOptions{MaxDeltas: 1}, reply: &pb.HelloReply{ResumeFrom: 2}, want: []int64{-4}},
		"the index knows of the future": {deltas: 1, reply: &pb.HelloReply{ResumeFrom: 9}, want: []int64{-1}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			j, late := journalWith(tc.deltas, tc.opts)
			c := converse(t, j, tc.reply)
			hello := c.next().GetHello()
			position := j.Position()
			if hello.GetEpoch() != position.Epoch || hello.GetOldestSequence() != position.Oldest || hello.GetLastSequence() != position.Last {
				t.Errorf("hello %v, want epoch, oldest and last sequence of %+v", hello, position)
			}
			c.expect(tc.want...)
			j.Absorb(batchOf(100, 1))
			late.advance(time.Second)
			c.expect(int64(tc.deltas) + 1)
		})
	}
}

func TestSessionAnswersResync(t *testing.T) {
	j, _ := journalWith(3, JournalOptions{})
	c := converse(t, j, &pb.HelloReply{ResumeFrom: 4})
	c.next()
	c.answers <- &pb.ReportResponse{Message: &pb.ReportResponse_Resync{Resync: &pb.Resync{Reason: "a test"}}}
	c.expect(-3)
}

func TestSessionEndsWithItsEpoch(t *testing.T) {
	j, _ := journalWith(3, JournalOptions{})
	c := converse(t, j, &pb.HelloReply{ResumeFrom: 4})
	c.next()
	j.Restart("")
	if err := <-c.ended; !errors.Is(err, errOutdated) {
		t.Errorf("ended with %v, want %v", err, errOutdated)
	}
}

func TestSessionTellsTheEnginesName(t *testing.T) {
	j, _ := journalWith(1, JournalOptions{})
	c := converse(t, j, &pb.HelloReply{ResumeFrom: 2})
	if got := c.next().GetHello().GetEngine(); got != "vllm" {
		t.Errorf("engine %q, want that of the identity", got)
	}
	j.SetEngine("vllm/0.32.0")
	if err := <-c.ended; !errors.Is(err, errOutdated) {
		t.Errorf("ended with %v, want %v", err, errOutdated)
	}
	c = converse(t, j, &pb.HelloReply{ResumeFrom: 2})
	if got := c.next().GetHello().GetEngine(); got != "vllm/0.32.0" {
		t.Errorf("engine %q, want the one that was told", got)
	}
}

func TestSessionSendsHeartbeatsAndStats(t *testing.T) {
	j, _ := journalWith(2, JournalOptions{})
	c := converse(t, j, &pb.HelloReply{ResumeFrom: 3, LeaseMs: 3000})
	c.next()
	stats := &pb.EngineStats{TimeUs: 1}
	j.SetStats(stats)
	if got := c.next().GetStats(); got != stats {
		t.Errorf("sent %v, want %v", got, stats)
	}
	waitFor(t, c.ticks.HasWaiters)
	c.ticks.Step(time.Second)
	if got := c.next().GetHeartbeat(); got.GetLastSequence() != 2 {
		t.Errorf("heartbeat %v, want last sequence 2", got)
	}
}

func TestSessionEnds(t *testing.T) {
	j, _ := journalWith(0, JournalOptions{})
	t.Run("no hello in the answer", func(t *testing.T) {
		c := &conversation{fakeIndex: newFakeIndex(), t: t}
		c.answers <- &pb.ReportResponse{Message: &pb.ReportResponse_Ack{Ack: &pb.Ack{}}}
		go func() { <-c.sent }()
		healthy, err := runSession(t.Context(), c, j, Identity{}, gateAt(clocktesting.NewFakeClock(start())), NewMetrics(prometheus.NewRegistry()).session("index", 0))
		if healthy || err == nil {
			t.Errorf("healthy %v, error %v; want an error", healthy, err)
		}
	})
	t.Run("the index ends the stream", func(t *testing.T) {
		c := converse(t, j, &pb.HelloReply{ResumeFrom: 1})
		c.next()
		close(c.answers)
		if err := <-c.ended; err == nil {
			t.Error("ended without an error")
		}
	})
	t.Run("the index takes small messages only", func(t *testing.T) {
		c := converse(t, j, &pb.HelloReply{ResumeFrom: 1, MaxMessageBytes: 1000})
		c.next()
		if err := <-c.ended; err == nil {
			t.Error("ended without an error")
		}
	})
	t.Run("the index does not answer", func(t *testing.T) {
		c := &conversation{fakeIndex: newFakeIndex(), t: t, ticks: clocktesting.NewFakeClock(start()), ended: make(chan error, 1)}
		go func() {
			_, err := runSession(t.Context(), c, j, Identity{}, gateAt(c.ticks), NewMetrics(prometheus.NewRegistry()).session("index", 0))
			c.ended <- err
		}()
		c.next()
		waitFor(t, c.ticks.HasWaiters)
		c.ticks.Step(helloTimeout)
		if err := <-c.ended; !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v, want a cancelled stream", err)
		}
	})
}

// waitFor polls until a condition holds.
func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	deadline := time.NewTimer(10 * time.Second)
	defer deadline.Stop()
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	for !holds() {
		select {
		case <-deadline.C:
			t.Fatal("waited in vain")
		case <-poll.C:
		}
	}
}
