/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexservertest

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// Patience is how long a test waits for what must happen.
const Patience = 10 * time.Second

// Stream is the client's end of a report stream.
type Stream struct {
	t      testing.TB
	cancel context.CancelFunc
	stream grpc.BidiStreamingClient[pb.ReportRequest, pb.ReportResponse]
}

// Report opens a stream and sends nothing yet.
func (s *Instance) Report(t testing.TB) *Stream {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	stream, err := s.Client(t).Report(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return &Stream{t: t, cancel: cancel, stream: stream}
}

// Open opens a stream, says hello and returns the reply.
func (s *Instance) Open(t testing.TB, hello *pb.Hello) (*Stream, *pb.HelloReply) {
	t.Helper()
	stream := s.Report(t)
	stream.Send(&pb.ReportRequest{Message: &pb.ReportRequest_Hello{Hello: hello}})
	reply := stream.Receive().GetHello()
	if reply == nil {
		t.Fatal("the first answer is not a hello")
	}
	return stream, reply
}

// Send sends a message. It does not wait for an answer, nor for a refusal.
func (s *Stream) Send(req *pb.ReportRequest) {
	s.t.Helper()
	// io.EOF means that the server has ended the stream; Receive tells why.
	_ = s.stream.Send(req)
}

// Delta sends a delta.
func (s *Stream) Delta(sequence uint64, changes ...*pb.Change) {
	s.t.Helper()
	s.Send(&pb.ReportRequest{Message: &pb.ReportRequest_Delta{Delta: &pb.Delta{Sequence: sequence, Changes: changes}}})
}

// Snapshot sends one chunk of a snapshot.
func (s *Stream) Snapshot(sequence uint64, chunk uint32, last bool, changes ...*pb.Change) {
	s.t.Helper()
	s.Send(&pb.ReportRequest{Message: &pb.ReportRequest_Snapshot{Snapshot: &pb.SnapshotChunk{
		Sequence: sequence, Chunk: chunk, Last: last, Changes: changes,
	}}})
}

// Heartbeat sends a heartbeat.
func (s *Stream) Heartbeat(last uint64) {
	s.t.Helper()
	s.Send(&pb.ReportRequest{Message: &pb.ReportRequest_Heartbeat{Heartbeat: &pb.Heartbeat{LastSequence: last}}})
}

// receive gives up after a while, which ends the stream.
func (s *Stream) receive() (*pb.ReportResponse, error) {
	watchdog := time.AfterFunc(Patience, s.cancel)
	defer watchdog.Stop()
	return s.stream.Recv()
}

// Receive returns the next answer; the end of the stream fails the test.
func (s *Stream) Receive() *pb.ReportResponse {
	s.t.Helper()
	response, err := s.receive()
	if err != nil {
		s.t.Fatalf("receive: %v", err)
	}
	return response
}

// Acked waits until a sequence is acknowledged, passing over earlier ones.
func (s *Stream) Acked(sequence uint64) {
	s.t.Helper()
	for {
		response := s.Receive()
		if response.GetAck() == nil {
			s.t.Fatalf("got %v while waiting for an ack of %d", response, sequence)
		}
		if response.GetAck().GetSequence() >= sequence {
			return
		}
	}
}

// End waits for the server to end the stream and returns why, passing over
// answers before that.
func (s *Stream) End() error {
	s.t.Helper()
	for {
		if _, err := s.receive(); err != nil {
			return err
		}
	}
}

// CloseSend says that nothing more will be sent.
func (s *Stream) CloseSend() { _ = s.stream.CloseSend() }

// Kill ends the stream at once, as the death of the client's process does.
func (s *Stream) Kill() { s.cancel() }

// Hello returns a complete hello of one engine, "engine-0" in namespace "team".
func Hello() *pb.Hello {
	return &pb.Hello{
		Holder:   &pb.Holder{Namespace: "team", Pod: "engine-0"},
		Backend:  &pb.BackendRef{Namespace: "team", Name: "cache"},
		TenantId: "team", ModelId: "llama", HashScheme: "vllm", Engine: "vllm/0.32.0", Epoch: 1,
	}
}

// Declare returns the declaration of scope 0 and of group 0, a full-attention
// group with blocks of the given size.
func Declare(blockSize uint32) []*pb.Change {
	return []*pb.Change{
		{Change: &pb.Change_Scope{Scope: &pb.Scope{BlockSize: blockSize}}},
		{Change: &pb.Change_Group{Group: &pb.Group{Kind: pb.GroupKind_GROUP_KIND_FULL, BlockSize: blockSize}}},
	}
}

// Store returns the announcement of a chain from its start, in scope 0, group 0
// and T1.
func Store(chain ...uint64) *pb.Change {
	return &pb.Change{Change: &pb.Change_Store{Store: &pb.Store{
		Tier: pb.CacheTier_CACHE_TIER_T1, Certainty: pb.Certainty_CERTAINTY_ANNOUNCED, Hashes: Pack(chain...),
	}}}
}

// Pack returns hashes as the contract packs them.
func Pack(chain ...uint64) []byte {
	packed := make([]byte, 0, fingerprint.WireSize*len(chain))
	for _, hash := range chain {
		packed = fingerprint.AppendWire(packed, hash)
	}
	return packed
}
