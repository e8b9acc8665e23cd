/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/routing"
)

const (
	// probeBlock is the tokens of the one block that a probe reports.
	probeBlock = 16
	// probeScheme is what a probe calls its way of keying blocks.
	probeScheme = "probe"
)

// errand is what a probe does: the client's end of one report stream, and lookups. It
// has a model of its own, so that errands that run at a time do not meet.
type errand struct {
	client pb.InferenceCacheClient
	// server is who has to answer.
	server string
	// name is that of the Pod and of the model.
	name string
	// prompt has one token more than the block: an engine computes the last in any case.
	prompt []uint32
	stream grpc.BidiStreamingClient[pb.ReportRequest, pb.ReportResponse]
}

func newErrand(conn grpc.ClientConnInterface, server string) *errand {
	return &errand{
		client: pb.NewInferenceCacheClient(conn), server: server,
		name: fmt.Sprintf("probe-%016x", rand.Uint64()), prompt: randomPrompt(),
	}
}

func randomPrompt() []uint32 {
	prompt := make([]uint32, probeBlock+1)
	for i := range prompt {
		prompt[i] = rand.Uint32()
	}
	return prompt
}

// report opens a session, reports the prompt's block and waits for its acknowledgement.
func (e *errand) report(ctx context.Context) error {
	var err error
	if e.stream, err = e.client.Report(ctx); err != nil {
		return fmt.Errorf("open a report stream: %w", plain(err))
	}
	answer, err := e.exchange(&pb.ReportRequest{Message: &pb.ReportRequest_Hello{Hello: &pb.Hello{
		Holder: &pb.Holder{Pod: e.name}, TenantId: ReservedTenant, ModelId: e.name, HashScheme: probeScheme, Engine: probeScheme, Epoch: 1,
	}}})
	if err != nil {
		return fmt.Errorf("open a session: %w", err)
	}
	hello := answer.GetHello()
	switch {
	case hello == nil:
		return errors.New("open a session: a hello was not answered by one")
	case hello.GetObservedBy() != e.server:
		return fmt.Errorf("open a session: %q answered instead of %q", hello.GetObservedBy(), e.server)
	case hello.GetSnapshotWanted() || hello.GetResumeFrom() != 1:
		return errors.New("open a session: the server knows the new engine already")
	}
	answer, err = e.exchange(&pb.ReportRequest{Message: &pb.ReportRequest_Delta{Delta: e.delta()}})
	if err != nil {
		return fmt.Errorf("report a block: %w", err)
	}
	if answer.GetAck().GetSequence() != 1 {
		return fmt.Errorf("report a block: it was not acknowledged but answered %q", answer.GetResync().GetReason())
	}
	return nil
}

// delta declares what an engine with one group has, and stores the block.
func (e *errand) delta() *pb.Delta {
	var hashes []byte
	for _, hash := range fingerprint.Chain(nil, fingerprint.Parent{}, e.prompt, probeBlock) {
		hashes = fingerprint.AppendWire(hashes, hash)
	}
	return &pb.Delta{Sequence: 1, Changes: []*pb.Change{
		{Change: &pb.Change_Scope{Scope: &pb.Scope{BlockSize: probeBlock}}},
		{Change: &pb.Change_Group{Group: &pb.Group{Kind: pb.GroupKind_GROUP_KIND_FULL, BlockSize: probeBlock}}},
		{Change: &pb.Change_Store{Store: &pb.Store{
			Tier: pb.CacheTier_CACHE_TIER_T1, Certainty: pb.Certainty_CERTAINTY_ANNOUNCED, Hashes: hashes,
		}}},
	}}
}

// exchange sends a message and returns the answer to it.
func (e *errand) exchange(request *pb.ReportRequest) (*pb.ReportResponse, error) {
	// Why a stream has ended is told by Recv.
	_ = e.stream.Send(request)
	answer, err := e.stream.Recv()
	if err != nil {
		return nil, plain(err)
	}
	return answer, nil
}

// find asks who holds the prompt, and who holds another one.
func (e *errand) find(ctx context.Context) error {
	answer, err := e.lookup(ctx, e.prompt)
	if err != nil {
		return fmt.Errorf("look up the reported prompt: %w", err)
	}
	if err := e.found(answer); err != nil {
		return fmt.Errorf("look up the reported prompt: %w", err)
	}
	answer, err = e.lookup(ctx, randomPrompt())
	if err != nil {
		return fmt.Errorf("look up another prompt: %w", err)
	}
	if hits := matches(answer); answer.GetReasonCode() == string(routing.PrefixMatch) || len(hits) > 0 {
		return fmt.Errorf("look up another prompt: %s with %d matches, although nobody reported it", answer.GetReasonCode(), len(hits))
	}
	return nil
}

// lookup sends token ids, so that the server forms the keys by itself.
func (e *errand) lookup(ctx context.Context, prompt []uint32) (*pb.LookupRouteResponse, error) {
	answer, err := e.client.LookupRoute(ctx, &pb.LookupRouteRequest{
		TenantId: ReservedTenant, ModelId: e.name, TokenIds: prompt, Explain: true,
	})
	if err != nil {
		return nil, plain(err)
	}
	if answer.GetObservedBy() != e.server {
		return nil, fmt.Errorf("%q answered instead of %q", answer.GetObservedBy(), e.server)
	}
	return answer, nil
}

// found returns in what an answer differs from the one that is right.
func (e *errand) found(answer *pb.LookupRouteResponse) error {
	hits := matches(answer)
	if answer.GetReasonCode() != string(routing.PrefixMatch) || len(hits) == 0 {
		return fmt.Errorf("%s: the block that was acknowledged is not found%s", answer.GetReasonCode(), e.whyNot(answer))
	}
	if len(hits) > 1 || hits[0].GetPod() != e.name || hits[0].GetNamespace() != ReservedTenant {
		return fmt.Errorf("%d engines match, the first is %s, want only the one that reported", len(hits), hits[0].GetReplicaId())
	}
	if hits[0].GetMatchedTokens() != probeBlock || hits[0].GetTier() != pb.CacheTier_CACHE_TIER_T1 {
		return fmt.Errorf("%d tokens match in %s, want %d in T1", hits[0].GetMatchedTokens(), hits[0].GetTier(), probeBlock)
	}
	return nil
}

// whyNot explains an answer without the block as far as it tells.
func (e *errand) whyNot(answer *pb.LookupRouteResponse) string {
	for _, r := range answer.GetReplicaScores() {
		if r.GetPod() == e.name && !r.GetExact() {
			return "; the index did not keep it, as it does not when its memory is full"
		}
	}
	if why := answer.GetExplanation(); why != "" {
		return "; " + why
	}
	return ""
}

// matches returns the replicas that hold something of the prompt.
func matches(answer *pb.LookupRouteResponse) (hits []*pb.ReplicaScore) {
	for _, r := range answer.GetReplicaScores() {
		if r.GetMatchedTokens() > 0 {
			hits = append(hits, r)
		}
	}
	return hits
}

// leave ends the session and waits until the server has cleared up. A stream that does
// not end by itself is cut off with its context.
func (e *errand) leave() {
	if e.stream == nil {
		return
	}
	_ = e.stream.CloseSend()
	for {
		if _, err := e.stream.Recv(); err != nil {
			return
		}
	}
}

// plain makes one line of a gRPC error: its code and its text.
func plain(err error) error {
	st := status.Convert(err)
	return fmt.Errorf("%s: %s", st.Code(), st.Message())
}
