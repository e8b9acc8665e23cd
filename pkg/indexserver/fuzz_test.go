/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"crypto/tls"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	clocktesting "k8s.io/utils/clock/testing"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/routing"
	"inferencecache.io/inference-cache/test/mutation"
)

// newServer returns a server without a socket, over an index whose clock stands still.
func newServer(t testing.TB) *Server {
	t.Helper()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s, err := New(Config{
		Index: index.New(index.Options{WarmUp: -1}, at), Name: "index-0", Clock: clocktesting.NewFakeClock(at),
		Authenticator: SingleToken("x", Identity{}), Authorizer: AllowAll{}, TLS: &tls.Config{},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func engineHello() *pb.Hello {
	return &pb.Hello{
		Holder: &pb.Holder{Namespace: "team", Pod: "engine-0"}, Backend: &pb.BackendRef{Namespace: "team", Name: "cache"},
		TenantId: "team", ModelId: "llama", HashScheme: "vllm", Epoch: 1,
	}
}

// seedChanges declare scope 0 and three groups and store a chain of three blocks.
func seedChanges() []*pb.Change {
	store := &pb.Store{Certainty: pb.Certainty_CERTAINTY_ANNOUNCED}
	for _, hash := range []uint64{1, 2, 3} {
		store.Hashes = fingerprint.AppendWire(store.Hashes, hash)
	}
	return []*pb.Change{
		{Change: &pb.Change_Scope{Scope: &pb.Scope{BlockSize: 16}}},
		{Change: &pb.Change_Group{Group: &pb.Group{Kind: pb.GroupKind_GROUP_KIND_FULL, BlockSize: 16}}},
		{Change: &pb.Change_Group{Group: &pb.Group{Index: 1, Kind: pb.GroupKind_GROUP_KIND_WINDOW, Window: 32, BlockSize: 16}}},
		{Change: &pb.Change_Group{Group: &pb.Group{Index: 2, Kind: pb.GroupKind_GROUP_KIND_CHECKPOINT, BlockSize: 16}}},
		{Change: &pb.Change_Store{Store: store}},
	}
}

// openSeeded opens the session of an engine and applies delta 1.
func openSeeded(t testing.TB, s *Server) *session {
	t.Helper()
	sess, _, err := s.open(t.Context(), Identity{}, engineHello())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sess.handle(&pb.ReportRequest{Message: &pb.ReportRequest_Delta{Delta: &pb.Delta{Sequence: 1, Changes: seedChanges()}}}); err != nil {
		t.Fatal(err)
	}
	return sess
}

func addMessage(t testing.TB, corpus *mutation.Corpus, m proto.Message) {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	corpus.Add(b)
}

// FuzzReportRequest holds for any bytes from a sidecar that a message which is
// refused changes nothing, and that the holder leaves no trace when it is gone.
func FuzzReportRequest(f *testing.F) {
	corpus := mutation.New(f, 1000)
	clearing := append(seedChanges(), &pb.Change{Change: &pb.Change_Clear{Clear: &pb.Clear{}}})
	for _, m := range []*pb.ReportRequest{
		{Message: &pb.ReportRequest_Hello{Hello: engineHello()}},
		{Message: &pb.ReportRequest_Delta{Delta: &pb.Delta{Sequence: 2, Changes: clearing, EventTimeUs: 1}}},
		{Message: &pb.ReportRequest_Delta{Delta: &pb.Delta{Sequence: 9}}},
		{Message: &pb.ReportRequest_Snapshot{Snapshot: &pb.SnapshotChunk{Sequence: 4, Last: true, Changes: seedChanges()}}},
		{Message: &pb.ReportRequest_Stats{Stats: &pb.EngineStats{Running: new(int64(3)), CacheUsage: new(0.5)}}},
		{Message: &pb.ReportRequest_Heartbeat{Heartbeat: &pb.Heartbeat{LastSequence: 3}}},
	} {
		addMessage(f, corpus, m)
	}
	corpus.Fuzz(func(t *testing.T, raw []byte) {
		req := &pb.ReportRequest{}
		if proto.Unmarshal(raw, req) != nil {
			return
		}
		s := newServer(t)
		sess := openSeeded(t, s)
		now := s.config.Clock.Now()
		before, _ := s.config.Index.Holders(now)
		var err error
		if hello := req.GetHello(); hello != nil {
			_, _, err = s.open(t.Context(), Identity{}, hello)
		} else {
			_, err = sess.handle(req)
		}
		after, _ := s.config.Index.Holders(now)
		if diff := cmp.Diff(before, after); err != nil && diff != "" {
			t.Fatalf("a refused message changed the index: %v\n%s", err, diff)
		}
		if code := status.Code(err); code == codes.Unknown || code == codes.Internal {
			t.Fatalf("an error without a code of its own: %v", err)
		}
		for _, v := range after {
			s.config.Index.Lookup(&index.Query{Tenant: v.Tenant, Model: v.Model, Chains: []index.Chain{{Hashes: []uint64{1, 2, 3}}}}, nil)
		}
		for _, sessions := range s.sessions {
			for _, open := range sessions {
				s.config.Index.Close(open.stream, now)
			}
		}
		s.config.Index.Expire(now.Add(s.config.Index.Lease()))
		if left, prefixes := s.config.Index.ModelHolders("", ""); len(left) != 0 || prefixes != 0 {
			t.Fatalf("%d holders and %d prefixes outlived their leases", len(left), prefixes)
		}
	})
}

// FuzzLookupRouteRequest holds for any bytes from a router that the answer is
// one, with a known reason and no more tokens than the prompt has.
func FuzzLookupRouteRequest(f *testing.F) {
	corpus := mutation.New(f, 5000)
	for _, m := range []*pb.LookupRouteRequest{
		{TenantId: "team", ModelId: "llama", TokenIds: make([]uint32, 64), CacheSalt: "s", Explain: true},
		{TenantId: "team", ModelId: "llama", BlockHashes: [][]byte{{0, 0, 0, 0, 0, 0, 0, 1}}, BlockTokenCounts: []int32{16}, TopK: 1},
		{TenantId: "team", ModelId: "llama", PackedBlockHashes: make([]byte, 16), PrefixTokenCount: 33},
		{TenantId: "team", ModelId: "llama", PrefixHash: []byte{0, 0, 0, 0, 0, 0, 0, 3}, HashScheme: "vllm"},
		{TenantId: "team", ModelId: "llama", TokenIds: make([]uint32, 20), BlockKeys: []*pb.BlockKeys{{Keys: []*pb.BlockKey{{Key: &pb.BlockKey_Text{Text: "k"}}}}}},
	} {
		addMessage(f, corpus, m)
	}
	reasons := map[string]bool{}
	for _, r := range routing.Reasons() {
		reasons[string(r)] = true
	}
	s := newServer(f)
	openSeeded(f, s)
	corpus.Fuzz(func(t *testing.T, raw []byte) {
		req := &pb.LookupRouteRequest{}
		if proto.Unmarshal(raw, req) != nil {
			return
		}
		out, err := s.LookupRoute(WithIdentity(t.Context(), Identity{}), req)
		if err != nil {
			t.Fatal(err)
		}
		if !reasons[out.GetReasonCode()] {
			t.Fatalf("reason %q", out.GetReasonCode())
		}
		for _, r := range out.GetReplicaScores() {
			if r.GetMatchedTokens() < 0 || (len(req.GetBlockTokenCounts()) == 0 && out.GetPromptTokens() > 0 && r.GetMatchedTokens() >= out.GetPromptTokens()) {
				t.Fatalf("%d tokens matched of a prompt of %d", r.GetMatchedTokens(), out.GetPromptTokens())
			}
		}
		if _, err := proto.Marshal(out); err != nil {
			t.Fatalf("the answer cannot be sent: %v", err)
		}
	})
}
