/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/indexserver/indexservertest"
)

// TestStreamsOfOneHolderContend opens many streams of one holder at once: all but
// one are ended, and the one that stays is the one that the index listens to.
func TestStreamsOfOneHolderContend(t *testing.T) {
	const streams = 20
	s := indexservertest.Start(t)
	client := s.Client(t)
	var superseded atomic.Int64
	survivor := make(chan pb.InferenceCache_ReportClient, streams)
	var done sync.WaitGroup
	for range streams {
		done.Go(func() {
			stream, err := client.Report(t.Context())
			if err != nil {
				t.Errorf("report: %v", err)
				return
			}
			_ = stream.Send(&pb.ReportRequest{Message: &pb.ReportRequest_Hello{Hello: indexservertest.Hello()}})
			survivor <- stream
			for err == nil {
				_, err = stream.Recv()
			}
			if status.Code(err) == codes.Aborted {
				superseded.Add(1)
			}
		})
	}
	indexservertest.Await(t, "all streams but one to end", func() bool { return superseded.Load() == streams-1 })
	s.AwaitState(t, index.Live)
	for range streams {
		// Nobody listens on the streams that have ended.
		_ = (<-survivor).Send(&pb.ReportRequest{Message: &pb.ReportRequest_Delta{Delta: &pb.Delta{
			Sequence: 1, Changes: append(indexservertest.Declare(blockSize), indexservertest.Store(11)),
		}}})
	}
	indexservertest.Await(t, "the surviving stream's delta", func() bool { return onlyHolder(t, s).Prefixes == 1 })
	s.Stop()
	done.Wait()
}

// TestLookupsDuringReports asks while several engines report, restart and vanish.
func TestLookupsDuringReports(t *testing.T) {
	const engines, deltas, lookups = 4, 50, 200
	s := indexservertest.Start(t)
	client := s.Client(t)
	var done sync.WaitGroup
	for i := range engines {
		done.Go(func() {
			for epoch := uint64(1); epoch <= 3; epoch++ {
				stream, err := client.Report(t.Context())
				if err != nil {
					t.Errorf("report: %v", err)
					return
				}
				hello := indexservertest.Hello()
				hello.Holder.Pod, hello.Epoch = fmt.Sprintf("engine-%d", i), epoch
				_ = stream.Send(&pb.ReportRequest{Message: &pb.ReportRequest_Hello{Hello: hello}})
				for sequence := uint64(1); sequence <= deltas; sequence++ {
					changes := []*pb.Change{indexservertest.Store(1, 2, 3, sequence+3)}
					if sequence == 1 {
						changes = append(indexservertest.Declare(blockSize), changes...)
					}
					_ = stream.Send(&pb.ReportRequest{Message: &pb.ReportRequest_Delta{Delta: &pb.Delta{Sequence: sequence, Changes: changes}}})
				}
				_ = stream.CloseSend()
				for err == nil {
					_, err = stream.Recv()
				}
			}
		})
	}
	request := &pb.LookupRouteRequest{TenantId: "team", ModelId: "llama", PackedBlockHashes: indexservertest.Pack(1, 2, 3)}
	for range lookups {
		response, err := client.LookupRoute(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range response.GetReplicaScores() {
			// A delta is seen whole or not at all.
			if n := r.GetMatchedTokens(); n != 0 && n != 3*blockSize {
				t.Errorf("%s matched %d tokens, want none or all", r.GetReplicaId(), n)
			}
		}
	}
	done.Wait()
	response, err := client.GetCacheState(t.Context(), &pb.GetCacheStateRequest{TenantId: "team", ModelId: "llama"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range response.GetReplicas() {
		if r.GetEpoch() != 3 || r.GetSequence() != deltas || r.GetPrefixCount() != 3+deltas {
			t.Errorf("got %v, want the state of the last epoch", r)
		}
	}
}
