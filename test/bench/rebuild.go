/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/indexserver"
)

// rebuildTarget is in seconds.
const rebuildTarget = 5

// chunkHashes is the number of hashes in one chunk of a snapshot, as sidecars cut
// them.
const chunkHashes = 1 << 16

// rebuild measures how long a fresh server takes for the snapshots of all holders
// of the resident population: decoding, checks, index and acknowledgement.
func (b *bench) rebuild(ctx context.Context) error {
	b.release()
	recorded := make([][][]byte, b.holders)
	bytes := 0
	for i := range recorded {
		messages, err := b.record(i)
		if err != nil {
			return err
		}
		recorded[i] = messages
		for _, m := range messages {
			bytes += len(m)
		}
	}
	f := newFleet(index.Options{})
	server, err := serverOf(f.x)
	if err != nil {
		return err
	}
	ctx = indexserver.WithIdentity(ctx, indexserver.Identity{Name: "bench"})
	took := processCPU(func() {
		for i, messages := range recorded {
			if err = server.Report(&replay{ctx: ctx, messages: messages}); err != nil {
				err = fmt.Errorf("holder %d: %w", i, err)
				return
			}
		}
	})
	if err != nil {
		return err
	}
	entries := int64(b.entries / longChain * longChain)
	if got := f.x.Prefixes()[tenant]; got != entries {
		return fmt.Errorf("%d blocks after the rebuild, want %d", got, entries)
	}
	b.atMost(fmt.Sprintf("rebuild of %s entries into a fresh server", millions(b.entries)),
		fmt.Sprintf("snapshots of %d holders, %d MB; CPU of the receiver without its transport", b.holders, bytes>>20),
		seconds, took.Seconds(), rebuildTarget)
	return nil
}

// record returns the messages of one holder: a hello and its snapshot.
func (b *bench) record(holder int) ([][]byte, error) {
	requests := []*pb.ReportRequest{{Message: &pb.ReportRequest_Hello{Hello: &pb.Hello{
		Holder:   &pb.Holder{Namespace: tenant, Pod: holderName(holder)},
		TenantId: tenant, ModelId: plainModel, HashScheme: scheme, Engine: "vllm/0.32.0", Epoch: 1, LastSequence: 1,
	}}}}
	changes := []*pb.Change{
		{Change: &pb.Change_Scope{Scope: &pb.Scope{BlockSize: blockSize}}},
		{Change: &pb.Change_Group{Group: &pb.Group{Kind: pb.GroupKind_GROUP_KIND_FULL, BlockSize: blockSize}}},
	}
	number, hashes := uint32(0), 0
	cut := func(last bool) {
		requests = append(requests, &pb.ReportRequest{Message: &pb.ReportRequest_Snapshot{Snapshot: &pb.SnapshotChunk{
			Sequence: 1, Chunk: number, Last: last, Changes: changes,
		}}})
		number, hashes, changes = number+1, 0, nil
	}
	for n := holder; n < b.entries/longChain; n += b.holders {
		if hashes+longChain > chunkHashes {
			cut(false)
		}
		changes = append(changes, storeMessage(residentChains+chain(n)))
		hashes += longChain
	}
	cut(true)
	messages := make([][]byte, len(requests))
	for i, r := range requests {
		var err error
		if messages[i], err = proto.Marshal(r); err != nil {
			return nil, fmt.Errorf("encode message %d: %w", i, err)
		}
	}
	return messages, nil
}

// storeMessage announces a whole chain.
func storeMessage(c chain) *pb.Change {
	var packed []byte
	for i := range longChain {
		packed = binary.BigEndian.AppendUint64(packed, c.at(i))
	}
	return &pb.Change{Change: &pb.Change_Store{Store: &pb.Store{
		Tier: pb.CacheTier_CACHE_TIER_T1, Certainty: pb.Certainty_CERTAINTY_ANNOUNCED, Hashes: packed,
	}}}
}

// replay is a report stream whose messages were recorded.
type replay struct {
	ctx      context.Context
	messages [][]byte
}

// Recv decodes the next message; after the last one the stream ends.
func (r *replay) Recv() (*pb.ReportRequest, error) {
	if len(r.messages) == 0 {
		return nil, io.EOF
	}
	request := &pb.ReportRequest{}
	err := proto.Unmarshal(r.messages[0], request)
	r.messages = r.messages[1:]
	return request, err
}

// errResync means that a snapshot was not taken.
var errResync = errors.New("the server asks for a snapshot again")

// Send takes the server's answers.
func (*replay) Send(response *pb.ReportResponse) error {
	if response.GetResync() != nil {
		return errResync
	}
	return nil
}

// Context returns the context of the stream.
func (r *replay) Context() context.Context { return r.ctx }

// The rest of a stream is not used by reports.

func (*replay) SetHeader(metadata.MD) error  { return nil }
func (*replay) SendHeader(metadata.MD) error { return nil }
func (*replay) SetTrailer(metadata.MD)       {}
func (*replay) SendMsg(any) error            { return nil }
func (*replay) RecvMsg(any) error            { return nil }

// patience is how long a call may take on a machine that does much else.
const patience = time.Minute
