//go:build integration

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kubectl

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apiserver/apiservertest"
	"inferencecache.io/inference-cache/pkg/fingerprint"
	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/indexserver/indexservertest"
)

// What the engine of these tests serves: blocks of 16 tokens, of which it holds
// those of the prompt 0, 1, 2 … 63.
const (
	blockSize    = 16
	promptLength = 64
)

// bearer sends a token with every call.
type bearer string

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(b)}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials.
func (bearer) RequireTransportSecurity() bool { return true }

// startEngine reports an engine of the CacheBackend c, as its sidecar would, and
// returns when the index has what it holds. The engine lives until the test ends.
func startEngine(t *testing.T, server *apiservertest.Server) {
	t.Helper()
	trust, err := credentials.NewClientTLSFromFile(server.CAFile, "")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := grpc.NewClient(server.GRPCAddr, grpc.WithTransportCredentials(trust), grpc.WithPerRPCCredentials(bearer(server.Token)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	stream, err := pb.NewInferenceCacheClient(conn).Report(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	hello := indexservertest.Hello()
	hello.Holder = &pb.Holder{Namespace: "default", Pod: "engine-0"}
	hello.Backend = &pb.BackendRef{Namespace: "default", Name: "c"}
	hello.TenantId, hello.ModelId = "default", "example/model"

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
			t.Fatal(err)
		}
	}
	for {
		response, err := stream.Recv()
		if err != nil {
			t.Fatalf("reporting the engine: %v", err)
		}
		if response.GetAck().GetSequence() >= 1 {
			break
		}
	}
	go heartbeat(t.Context(), stream)
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
