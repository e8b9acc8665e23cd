/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/indexserver"
	"inferencecache.io/inference-cache/pkg/indexserver/indexservertest"
)

const blockSize = 16

// seed opens a session of a new engine and sends the declarations and a chain
// as delta 1.
func seed(t *testing.T, s *indexservertest.Instance, chain ...uint64) *indexservertest.Stream {
	t.Helper()
	stream, _ := s.Open(t, indexservertest.Hello())
	stream.Delta(1, append(indexservertest.Declare(blockSize), indexservertest.Store(chain...))...)
	stream.Acked(1)
	return stream
}

// onlyHolder returns what the index has of its only holder.
func onlyHolder(t *testing.T, s *indexservertest.Instance) index.HolderView {
	t.Helper()
	views, _ := s.Index.Holders(s.Clock.Now())
	if len(views) != 1 {
		t.Fatalf("got %d holders, want 1", len(views))
	}
	return views[0]
}

// wantEnd checks how the server ends a stream.
func wantEnd(t *testing.T, stream *indexservertest.Stream, code codes.Code, text string) {
	t.Helper()
	err := stream.End()
	if status.Code(err) != code || !strings.Contains(err.Error(), text) {
		t.Errorf("the stream ended with %v, want %s and %q", err, code, text)
	}
}

func TestHelloReply(t *testing.T) {
	with := func(change func(*pb.Hello)) *pb.Hello {
		h := indexservertest.Hello()
		change(h)
		return h
	}
	tests := map[string]struct {
		hello *pb.Hello
		want  *pb.HelloReply
	}{
		"new engine": {
			hello: indexservertest.Hello(),
			want:  &pb.HelloReply{ResumeFrom: 1},
		},
		"all deltas can be sent again": {
			hello: with(func(h *pb.Hello) { h.OldestSequence, h.LastSequence = 1, 7 }),
			want:  &pb.HelloReply{ResumeFrom: 1},
		},
		"deltas are lost": {
			hello: with(func(h *pb.Hello) { h.OldestSequence, h.LastSequence = 3, 7 }),
			want:  &pb.HelloReply{SnapshotWanted: true},
		},
		"without a backend and a namespace": {
			hello: with(func(h *pb.Hello) { h.Backend, h.Holder.Namespace = nil, "" }),
			want:  &pb.HelloReply{ResumeFrom: 1},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := indexservertest.Start(t)
			_, reply := s.Open(t, test.hello)
			test.want.ObservedBy = indexservertest.Name
			test.want.LeaseMs = uint32(index.DefaultLease.Milliseconds())
			test.want.MaxMessageBytes = indexserver.DefaultMessageBytes
			if diff := cmp.Diff(test.want, reply, protocmp.Transform()); diff != "" {
				t.Errorf("reply (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHolderWithoutNamespaceIsInThatOfItsBackend(t *testing.T) {
	s := indexservertest.Start(t)
	hello := indexservertest.Hello()
	hello.Holder.Namespace = ""
	s.Open(t, hello)
	if got := onlyHolder(t, s).Holder.Namespace; got != "team" {
		t.Errorf("got namespace %q, want that of the backend", got)
	}
}

func TestDeltas(t *testing.T) {
	s := indexservertest.Start(t)
	stream := seed(t, s, 11, 12)
	if v := onlyHolder(t, s); v.State != index.Live || v.Prefixes != 2 || v.Sequence != 1 {
		t.Errorf("got %s with %d prefixes at sequence %d, want Live, 2 and 1", v.State, v.Prefixes, v.Sequence)
	}

	stream.Delta(1, &pb.Change{Change: &pb.Change_Clear{Clear: &pb.Clear{}}})
	stream.Acked(1)
	if v := onlyHolder(t, s); v.Prefixes != 2 || v.Duplicates != 1 {
		t.Errorf("a duplicate left %d prefixes and a count of %d, want 2 and 1", v.Prefixes, v.Duplicates)
	}

	stream.Delta(2, &pb.Change{Change: &pb.Change_Remove{Remove: &pb.Remove{
		Tier: pb.CacheTier_CACHE_TIER_T1, Certainty: pb.Certainty_CERTAINTY_ANNOUNCED, Hashes: indexservertest.Pack(12),
	}}})
	stream.Acked(2)
	if v := onlyHolder(t, s); v.Prefixes != 1 {
		t.Errorf("got %d prefixes after a removal, want 1", v.Prefixes)
	}

	stream.Delta(3, &pb.Change{Change: &pb.Change_Clear{Clear: &pb.Clear{}}})
	stream.Acked(3)
	if v := onlyHolder(t, s); v.Prefixes != 0 {
		t.Errorf("got %d prefixes after a clear, want 0", v.Prefixes)
	}
}

func TestGapAsksOnceForASnapshot(t *testing.T) {
	s := indexservertest.Start(t)
	stream := seed(t, s, 11, 12)
	stream.Delta(3, indexservertest.Store(13))
	resync := stream.Receive().GetResync()
	if want := "delta: expected sequence 2, got 3"; resync.GetReason() != want {
		t.Errorf("got %q, want %q", resync.GetReason(), want)
	}
	// Neither is answered; the next answer is that to the snapshot.
	stream.Delta(4, indexservertest.Store(14))
	stream.Delta(5, indexservertest.Store(15))
	if v := onlyHolder(t, s); v.Prefixes != 2 || v.State != index.Rebuilding {
		t.Errorf("got %s with %d prefixes, want Rebuilding with the old 2", v.State, v.Prefixes)
	}
	stream.Snapshot(5, 0, false, indexservertest.Declare(blockSize)...)
	stream.Snapshot(5, 1, true, indexservertest.Store(11, 12, 13, 14, 15))
	stream.Acked(5)
	if v := onlyHolder(t, s); v.State != index.Live || v.Prefixes != 5 || v.Gaps != 1 {
		t.Errorf("got %s with %d prefixes and %d gaps, want Live, 5 and 1", v.State, v.Prefixes, v.Gaps)
	}
}

func TestHeartbeat(t *testing.T) {
	s := indexservertest.Start(t)
	stream := seed(t, s, 11)
	stream.Heartbeat(1)
	stream.Acked(1)
	stream.Heartbeat(4)
	if want, got := "heartbeat: expected sequence 2, got 4", stream.Receive().GetResync().GetReason(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	stream.Heartbeat(4)
	if got := stream.Receive().GetAck().GetSequence(); got != 1 {
		t.Errorf("a heartbeat during a resync was answered with %d, want the applied 1", got)
	}
}

func TestManyDeltasAreAcknowledgedTogether(t *testing.T) {
	s := indexservertest.Start(t)
	stream := seed(t, s, 1)
	const last = 1000
	for sequence := uint64(2); sequence <= last; sequence++ {
		stream.Delta(sequence)
	}
	stream.Acked(last)
	if v := onlyHolder(t, s); v.Sequence != last {
		t.Errorf("got sequence %d, want %d", v.Sequence, last)
	}
}

func TestClientKilledInTheMiddleOfASnapshot(t *testing.T) {
	s := indexservertest.Start(t)
	seed(t, s, 11, 12).Kill()
	s.AwaitState(t, index.Suspect)

	hello := indexservertest.Hello()
	hello.OldestSequence, hello.LastSequence = 8, 9
	stream, reply := s.Open(t, hello)
	if !reply.GetSnapshotWanted() {
		t.Fatal("no snapshot wanted after a loss of deltas")
	}
	stream.Snapshot(9, 0, false, append(indexservertest.Declare(blockSize), indexservertest.Store(21, 22, 23))...)
	stream.Kill()
	s.AwaitState(t, index.Suspect)
	if v := onlyHolder(t, s); v.Prefixes != 2 {
		t.Errorf("got %d prefixes, want the 2 from before the snapshot", v.Prefixes)
	}

	s.Clock.Step(index.DefaultLease)
	indexservertest.Await(t, "the holder's end", func() bool {
		views, complete := s.Index.Holders(s.Clock.Now())
		return len(views) == 0 && complete
	})
}

func TestNewerStreamEndsTheOlder(t *testing.T) {
	s := indexservertest.Start(t)
	older := seed(t, s, 11)
	hello := indexservertest.Hello()
	hello.OldestSequence, hello.LastSequence = 1, 1
	newer, reply := s.Open(t, hello)
	if reply.GetSnapshotWanted() || reply.GetResumeFrom() != 2 {
		t.Errorf("got %v, want to resume from 2", reply)
	}
	wantEnd(t, older, codes.Aborted, "superseded")
	newer.Delta(2, indexservertest.Store(11, 12))
	newer.Acked(2)
	if v := onlyHolder(t, s); v.State != index.Live || v.Prefixes != 2 {
		t.Errorf("got %s with %d prefixes, want Live with 2", v.State, v.Prefixes)
	}
}

func TestEpochs(t *testing.T) {
	s := indexservertest.Start(t)
	hello := indexservertest.Hello()
	hello.Epoch = 5
	s.Open(t, hello)

	stale := proto.CloneOf(hello)
	stale.Epoch = 4
	stream := s.Report(t)
	stream.Send(&pb.ReportRequest{Message: &pb.ReportRequest_Hello{Hello: stale}})
	wantEnd(t, stream, codes.FailedPrecondition, "5, not 4")

	hello.Epoch = 6
	if _, reply := s.Open(t, hello); reply.GetResumeFrom() != 1 {
		t.Errorf("got %v, want a new epoch to start at 1", reply)
	}
}

func TestSilentStreamIsClosed(t *testing.T) {
	s := indexservertest.Start(t)
	stream := seed(t, s, 11)
	// The stream's timer and the ticker of Serve.
	indexservertest.Await(t, "timers", func() bool { return s.Clock.Waiters() >= 2 })
	s.Clock.Step(2*index.DefaultLease + time.Second)
	wantEnd(t, stream, codes.DeadlineExceeded, "nothing was said")
}

func TestClientThatEndsItsStreamIsSuspect(t *testing.T) {
	s := indexservertest.Start(t)
	stream := seed(t, s, 11)
	stream.CloseSend()
	if err := stream.End(); status.Code(err) != codes.Unknown {
		t.Errorf("got %v, want the plain end of the stream", err)
	}
	s.AwaitState(t, index.Suspect)
}

// TestTooManyStreams opens more sessions than are taken. A stream that has not said
// whose it is takes no place.
func TestTooManyStreams(t *testing.T) {
	s := indexservertest.Start(t, indexservertest.WithLimits(indexserver.Limits{ReportStreams: 1}))
	s.Report(t)
	first := seed(t, s, 11)
	second := indexservertest.Hello()
	second.Holder.Pod = "engine-1"
	open := func() *indexservertest.Stream {
		stream := s.Report(t)
		stream.Send(&pb.ReportRequest{Message: &pb.ReportRequest_Hello{Hello: second}})
		return stream
	}
	wantEnd(t, open(), codes.ResourceExhausted, "1 report streams")
	first.Kill()
	s.AwaitState(t, index.Suspect)
	indexservertest.Await(t, "a place", func() bool {
		stream := open()
		stream.CloseSend()
		return status.Code(stream.End()) != codes.ResourceExhausted
	})
}
