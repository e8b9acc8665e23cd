/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"k8s.io/utils/clock"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/index"
)

// session is one report stream after its hello. It is used by one goroutine.
type session struct {
	index        *index.Index
	metrics      *metrics
	clock        clock.PassiveClock
	messageBytes int
	holder       index.Holder
	stream       index.Stream
	// counted is what the session adds to the server's streams.
	counted int64
	// hello is what the client said, permission what it was granted for that.
	hello      index.Hello
	permission Permission
	// ended has why the session has to end, once it has to.
	ended  chan error
	reader changeReader
	// scraped are the last statistics.
	scraped index.Stats
}

// end tells the session's stream to end. The first reason counts.
func (s *session) end(why error) {
	select {
	case s.ended <- why:
	default:
	}
}

// answer is what a message is answered with; the zero answer is silence.
type answer struct {
	// ack is set when the state up to sequence is known to be applied.
	ack      bool
	sequence uint64
	// resync, when not empty, says why a snapshot is needed.
	resync string
}

// statusOf makes a gRPC status of what the index or a check says.
func statusOf(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, index.ErrSuperseded):
		return status.Error(codes.Aborted, err.Error())
	case errors.Is(err, index.ErrStaleEpoch):
		return status.Error(codes.FailedPrecondition, err.Error())
	}
	return refusal(err, codes.InvalidArgument)
}

// handle applies one message. An error ends the stream, and the message has
// changed nothing then.
func (s *session) handle(req *pb.ReportRequest) (answer, error) {
	if size := proto.Size(req); size > s.messageBytes {
		return answer{}, status.Errorf(codes.ResourceExhausted, "a message of %d bytes, at most %d are taken", size, s.messageBytes)
	}
	switch m := req.GetMessage().(type) {
	case *pb.ReportRequest_Delta:
		return s.delta(m.Delta)
	case *pb.ReportRequest_Snapshot:
		return s.snapshot(m.Snapshot)
	case *pb.ReportRequest_Stats:
		return answer{}, statusOf(s.index.SetStats(s.stream, s.measured(statsOf(m.Stats, s.clock.Now()))))
	case *pb.ReportRequest_Heartbeat:
		return s.heartbeat(m.Heartbeat)
	case *pb.ReportRequest_Hello:
		return answer{}, status.Error(codes.InvalidArgument, "hello: the session is open already")
	}
	return answer{}, status.Error(codes.InvalidArgument, "message: none of the known kinds is set")
}

func (s *session) delta(d *pb.Delta) (answer, error) {
	sequence := d.GetSequence()
	if sequence == 0 {
		return answer{}, status.Error(codes.InvalidArgument, "delta.sequence: is required and above 0")
	}
	changes, err := s.reader.read("delta.changes", d.GetChanges())
	if err != nil {
		s.metrics.deltas.WithLabelValues(deltaInvalid).Inc()
		return answer{}, statusOf(err)
	}
	outcome, err := s.index.Delta(s.stream, sequence, changes, timeOf(d.GetEventTimeUs()), s.clock.Now())
	if err != nil {
		s.metrics.deltas.WithLabelValues(deltaInvalid).Inc()
		return answer{}, statusOf(err)
	}
	s.metrics.deltas.WithLabelValues(nameOfOutcome(outcome)).Inc()
	switch outcome {
	case index.Applied:
		s.metrics.countBlocks(changes)
		return answer{ack: true, sequence: sequence}, nil
	case index.Duplicate:
		return s.acknowledge()
	case index.Gap:
		return s.resync(resyncDelta, sequence)
	case index.Ignored:
	}
	return answer{}, nil
}

func (s *session) snapshot(c *pb.SnapshotChunk) (answer, error) {
	changes, err := s.reader.read("snapshot.changes", c.GetChanges())
	if err == nil {
		err = s.index.Snapshot(s.stream, index.Chunk{
			Sequence: c.GetSequence(), Number: c.GetChunk(), Last: c.GetLast(),
			Changes: changes, EventTime: timeOf(c.GetEventTimeUs()),
		}, s.clock.Now())
	}
	if err != nil {
		s.metrics.chunks.WithLabelValues(chunkInvalid).Inc()
		return answer{}, statusOf(err)
	}
	s.metrics.chunks.WithLabelValues(chunkTaken).Inc()
	s.metrics.countBlocks(changes)
	return answer{ack: c.GetLast(), sequence: c.GetSequence()}, nil
}

// heartbeat is always answered, so that the client knows that it is heard.
func (s *session) heartbeat(h *pb.Heartbeat) (answer, error) {
	outcome, err := s.index.Heartbeat(s.stream, h.GetLastSequence())
	if err != nil {
		return answer{}, statusOf(err)
	}
	if outcome == index.Gap {
		return s.resync(resyncHeartbeat, h.GetLastSequence())
	}
	return s.acknowledge()
}

// acknowledge answers with what is applied.
func (s *session) acknowledge() (answer, error) {
	applied, err := s.index.Sequence(s.stream)
	return answer{ack: err == nil, sequence: applied}, statusOf(err)
}

// resync asks for a snapshot, because of a message that named a sequence.
func (s *session) resync(cause string, sequence uint64) (answer, error) {
	applied, err := s.index.Sequence(s.stream)
	if err != nil {
		return answer{}, statusOf(err)
	}
	s.metrics.resyncs.WithLabelValues(cause).Inc()
	return answer{resync: fmt.Sprintf("%s: expected sequence %d, got %d", cause, applied+1, sequence)}, nil
}
