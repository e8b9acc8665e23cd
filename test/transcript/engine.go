/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package transcript

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/indexserver/indexservertest"
)

const (
	// EngineNamespace is where the engine of the transcripts is.
	EngineNamespace = "default"
	// EnginePod is the name of its Pod.
	EnginePod = "engine-0"
	// EngineBackend is the CacheBackend that it belongs to.
	EngineBackend = "c"
)

// What the engine serves: blocks of 16 tokens, of which it holds those of the
// prompt 0, 1, 2 … 63.
const (
	blockSize    = 16
	promptLength = 64
)

// ReportEngine reports an engine, as its sidecar would, and returns when the server
// has what it holds. The connection says who reports. The engine lives until the
// context ends.
func ReportEngine(ctx context.Context, conn *grpc.ClientConn) error {
	stream, err := pb.NewInferenceCacheClient(conn).Report(ctx)
	if err != nil {
		return err
	}
	hello := indexservertest.Hello()
	hello.Holder = &pb.Holder{Namespace: EngineNamespace, Pod: EnginePod}
	hello.Backend = &pb.BackendRef{Namespace: EngineNamespace, Name: EngineBackend}
	hello.TenantId, hello.ModelId = EngineNamespace, "example/model"

	prompt := make([]uint32, promptLength)
	for i := range prompt {
		prompt[i] = uint32(i)
	}
	chain := fingerprint.Chain(nil, fingerprint.Parent{}, prompt, blockSize)
	changes := append(indexservertest.Declare(blockSize), indexservertest.Store(chain...))
	for _, request := range []*pb.ReportRequest{
		{Message: &pb.ReportRequest_Hello{Hello: hello}},
		{Message: &pb.ReportRequest_Snapshot{Snapshot: &pb.SnapshotChunk{Sequence: 1, Last: true, Changes: changes, EventTimeUs: time.Now().UnixMicro()}}},
		{Message: &pb.ReportRequest_Stats{Stats: &pb.EngineStats{
			Running: ptr.To[int64](1), Waiting: ptr.To[int64](2), CacheUsage: ptr.To(0.5),
			HitTokens: ptr.To[int64](300), QueryTokens: ptr.To[int64](1000),
		}}},
	} {
		if err := stream.Send(request); err != nil {
			return fmt.Errorf("report the engine: %w", err)
		}
	}
	for {
		response, err := stream.Recv()
		if err != nil {
			return fmt.Errorf("report the engine: %w", err)
		}
		if response.GetAck().GetSequence() >= 1 {
			break
		}
	}
	go heartbeat(ctx, stream)
	return nil
}

// heartbeat keeps the session of an engine that has nothing new alive.
func heartbeat(ctx context.Context, stream grpc.BidiStreamingClient[pb.ReportRequest, pb.ReportResponse]) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	beat := &pb.ReportRequest{Message: &pb.ReportRequest_Heartbeat{Heartbeat: &pb.Heartbeat{LastSequence: 1}}}
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			// An error means that the server has ended; the test sees that itself.
			_ = stream.Send(beat)
		}
	}
}
