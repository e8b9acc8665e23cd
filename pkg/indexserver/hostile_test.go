/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/indexserver"
	"inferencecache.io/inference-cache/pkg/indexserver/indexservertest"
)

func TestHostileHellos(t *testing.T) {
	tests := map[string]struct {
		change func(*pb.Hello)
		code   codes.Code
		text   string
	}{
		"no holder":                {func(h *pb.Hello) { h.Holder = nil }, codes.InvalidArgument, "hello.holder.pod: "},
		"pod that is a path":       {func(h *pb.Hello) { h.Holder.Pod = "../engine" }, codes.InvalidArgument, "hello.holder.pod: "},
		"namespace with a newline": {func(h *pb.Hello) { h.Holder.Namespace = "team\n" }, codes.InvalidArgument, "hello.holder.namespace: "},
		"namespace with a blank":   {func(h *pb.Hello) { h.Holder.Namespace = "a b" }, codes.InvalidArgument, "hello.holder.namespace: "},
		"rank":                     {func(h *pb.Hello) { h.Holder.Rank = 1 << 31 }, codes.InvalidArgument, "hello.holder.rank: "},
		"backend without a name":   {func(h *pb.Hello) { h.Backend.Name = "" }, codes.InvalidArgument, "hello.backend.name: "},
		"backend without namespace": {func(h *pb.Hello) { h.Backend.Namespace = "" },
			codes.InvalidArgument, "hello.backend.namespace: "},
		"backend in capitals":   {func(h *pb.Hello) { h.Backend.Name = "Cache" }, codes.InvalidArgument, "hello.backend.name: "},
		"reserved tenant":       {func(h *pb.Hello) { h.TenantId = indexserver.ReservedTenant }, codes.PermissionDenied, "hello.tenant_id: "},
		"no tenant":             {func(h *pb.Hello) { h.TenantId = "" }, codes.InvalidArgument, "hello.tenant_id: is required"},
		"no model":              {func(h *pb.Hello) { h.ModelId = "" }, codes.InvalidArgument, "hello.model_id: is required"},
		"long model":            {func(h *pb.Hello) { h.ModelId = strings.Repeat("m", 513) }, codes.InvalidArgument, "hello.model_id: 513 bytes"},
		"no hash scheme":        {func(h *pb.Hello) { h.HashScheme = "" }, codes.InvalidArgument, "hello.hash_scheme: is required"},
		"engine with an escape": {func(h *pb.Hello) { h.Engine = "vllm\x1b[2J" }, codes.InvalidArgument, "hello.engine: a character"},
		"no epoch":              {func(h *pb.Hello) { h.Epoch = 0 }, codes.InvalidArgument, "hello.epoch: "},
		"deltas of the future":  {func(h *pb.Hello) { h.OldestSequence, h.LastSequence = 9, 3 }, codes.InvalidArgument, "hello.oldest_sequence: "},
		"nameless adapter":      {func(h *pb.Hello) { h.Adapters = []string{"a", ""} }, codes.InvalidArgument, "hello.adapters[1]: "},
		"too many adapters":     {func(h *pb.Hello) { h.Adapters = make([]string, 5000) }, codes.InvalidArgument, "hello.adapters: 5000"},
	}
	s := indexservertest.Start(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			hello := indexservertest.Hello()
			test.change(hello)
			stream := s.Report(t)
			stream.Send(&pb.ReportRequest{Message: &pb.ReportRequest_Hello{Hello: hello}})
			wantEnd(t, stream, test.code, test.text)
			if views, _ := s.Index.Holders(s.Clock.Now()); len(views) != 0 {
				t.Errorf("the index has a holder: %v", views)
			}
		})
	}
}

func TestStreamWithoutHello(t *testing.T) {
	tests := map[string]func(*indexservertest.Stream){
		"a delta first": func(s *indexservertest.Stream) { s.Delta(1) },
		"no kind set":   func(s *indexservertest.Stream) { s.Send(&pb.ReportRequest{}) },
		"nothing":       func(s *indexservertest.Stream) { s.CloseSend() },
	}
	s := indexservertest.Start(t)
	for name, send := range tests {
		t.Run(name, func(t *testing.T) {
			stream := s.Report(t)
			send(stream)
			wantEnd(t, stream, codes.InvalidArgument, "the first message must be a hello")
		})
	}
}

func delta(changes ...*pb.Change) *pb.ReportRequest {
	return &pb.ReportRequest{Message: &pb.ReportRequest_Delta{Delta: &pb.Delta{Sequence: 2, Changes: changes}}}
}

func storeOf(change func(*pb.Store)) *pb.ReportRequest {
	c := indexservertest.Store(31)
	change(c.GetStore())
	// A valid change in front shows that nothing of a refused delta is applied.
	return delta(indexservertest.Store(21, 22), c)
}

func TestHostileMessages(t *testing.T) {
	tests := map[string]struct {
		message *pb.ReportRequest
		code    codes.Code
		text    string
	}{
		"no kind set":   {&pb.ReportRequest{}, codes.InvalidArgument, "message: "},
		"second hello":  {&pb.ReportRequest{Message: &pb.ReportRequest_Hello{Hello: indexservertest.Hello()}}, codes.InvalidArgument, "open already"},
		"sequence 0":    {&pb.ReportRequest{Message: &pb.ReportRequest_Delta{Delta: &pb.Delta{}}}, codes.InvalidArgument, "delta.sequence: "},
		"empty change":  {delta(&pb.Change{}), codes.InvalidArgument, "delta.changes[0].change: "},
		"split hash":    {storeOf(func(s *pb.Store) { s.Hashes = make([]byte, 12) }), codes.InvalidArgument, "delta.changes[1].store.hashes: 12 bytes"},
		"unknown scope": {storeOf(func(s *pb.Store) { s.Scope = 7 }), codes.InvalidArgument, "scope 7 was not declared"},
		"unknown group": {storeOf(func(s *pb.Store) { s.Group = 7 }), codes.InvalidArgument, "group 7 was not declared"},
		"unknown tier":  {storeOf(func(s *pb.Store) { s.Tier = 257 }), codes.InvalidArgument, "delta.changes[1].store: tier: 257"},
		"negative tier": {storeOf(func(s *pb.Store) { s.Tier = -255 }), codes.InvalidArgument, "tier: -255"},
		"no certainty":  {storeOf(func(s *pb.Store) { s.Certainty = 0 }), codes.InvalidArgument, "certainty: 0"},
		"chain without end": {storeOf(func(s *pb.Store) { s.Parent, s.Depth = new(uint64), 1<<32-1 }),
			codes.InvalidArgument, "a chain of more than"},
		"parent at the start": {storeOf(func(s *pb.Store) { s.Parent = new(uint64) }), codes.InvalidArgument, "depth 0"},
		"blocks of no tokens": {delta(&pb.Change{Change: &pb.Change_Scope{Scope: &pb.Scope{Id: 1}}}), codes.InvalidArgument, "block size of 0"},
		"scope declared anew": {delta(&pb.Change{Change: &pb.Change_Scope{Scope: &pb.Scope{BlockSize: 32}}}), codes.InvalidArgument, "declared twice"},
		"unknown kind": {delta(&pb.Change{Change: &pb.Change_Group{Group: &pb.Group{Index: 1, Kind: 9, BlockSize: 16}}}),
			codes.InvalidArgument, "kind: 9"},
		"adapter of control characters": {delta(&pb.Change{Change: &pb.Change_Scope{Scope: &pb.Scope{Id: 1, AdapterId: "\x00", BlockSize: 16}}}),
			codes.InvalidArgument, "adapter_id: a character"},
		"negative conflicts": {delta(&pb.Change{Change: &pb.Change_Confidence{Confidence: &pb.Confidence{Conflicts: -1}}}),
			codes.InvalidArgument, "delta.changes[0].confidence: "},
		"endless reason": {delta(&pb.Change{Change: &pb.Change_Confidence{Confidence: &pb.Confidence{Degraded: strings.Repeat("x", 5000)}}}),
			codes.InvalidArgument, "degraded: 5000 bytes"},
		"too many changes": {delta(make([]*pb.Change, 1<<16+1)...), codes.InvalidArgument, "delta.changes: 65537"},
		"large message": {delta(indexservertest.Store(make([]uint64, indexserver.DefaultMessageBytes/8)...)),
			codes.ResourceExhausted, "at most 4194304"},
		"enormous message": {delta(indexservertest.Store(make([]uint64, indexserver.DefaultLookupBytes/8)...)),
			codes.ResourceExhausted, "larger than max"},
		"chunk in the middle": {&pb.ReportRequest{Message: &pb.ReportRequest_Snapshot{Snapshot: &pb.SnapshotChunk{Sequence: 1, Chunk: 3}}},
			codes.InvalidArgument, "snapshot chunk 3"},
		"invalid chunk": {&pb.ReportRequest{Message: &pb.ReportRequest_Snapshot{Snapshot: &pb.SnapshotChunk{Last: true, Changes: []*pb.Change{indexservertest.Store(1)}}}},
			codes.InvalidArgument, "scope 0 was not declared"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := indexservertest.Start(t)
			stream := seed(t, s, 11, 12)
			before := onlyHolder(t, s)
			stream.Send(test.message)
			wantEnd(t, stream, test.code, test.text)
			s.AwaitState(t, index.Suspect)
			before.State = index.Suspect
			if diff := cmp.Diff(before, onlyHolder(t, s)); diff != "" {
				t.Errorf("the refused message changed the index (-before +after):\n%s", diff)
			}
		})
	}
}

// gatekeeper allows what concerns one tenant, and engines in their own namespace.
type gatekeeper struct{ tenant string }

func (g gatekeeper) MayReport(ctx context.Context, who indexserver.Identity, h *index.Hello) (indexserver.Permission, error) {
	if h.Backend.Namespace != h.Holder.Namespace {
		return indexserver.Permission{}, fmt.Errorf("backend %s/%s has no engines in %s", h.Backend.Namespace, h.Backend.Name, h.Holder.Namespace)
	}
	return indexserver.Permission{Backend: h.Backend}, g.MayLookup(ctx, who, h.Tenant)
}

func (g gatekeeper) MayLookup(_ context.Context, who indexserver.Identity, tenant string) error {
	switch tenant {
	case g.tenant:
		return nil
	case "unreachable":
		return status.Error(codes.Unavailable, "nobody to ask")
	}
	return errors.New(who.Name + " may not speak for " + tenant)
}

func TestAuthorization(t *testing.T) {
	s := indexservertest.Start(t, indexservertest.WithAuthorizer(gatekeeper{"team"}))
	tests := map[string]struct {
		tenant string
		code   codes.Code
	}{
		"own tenant":            {"team", codes.OK},
		"other tenant":          {"others", codes.PermissionDenied},
		"all tenants":           {"", codes.PermissionDenied},
		"authorizer in trouble": {"unreachable", codes.Unavailable},
	}
	client := s.Client(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := client.LookupRoute(t.Context(), &pb.LookupRouteRequest{TenantId: test.tenant})
			if status.Code(err) != test.code {
				t.Errorf("lookup: got %v, want %s", err, test.code)
			}
			_, err = client.GetCacheState(t.Context(), &pb.GetCacheStateRequest{TenantId: test.tenant})
			if status.Code(err) != test.code {
				t.Errorf("cache state: got %v, want %s", err, test.code)
			}
			if test.code == codes.OK || test.tenant == "" {
				return
			}
			hello := indexservertest.Hello()
			hello.TenantId = test.tenant
			stream := s.Report(t)
			stream.Send(&pb.ReportRequest{Message: &pb.ReportRequest_Hello{Hello: hello}})
			wantEnd(t, stream, test.code, "")
		})
	}
}

func TestHelloForSomebodyElsesBackend(t *testing.T) {
	s := indexservertest.Start(t, indexservertest.WithAuthorizer(gatekeeper{"team"}))
	hello := indexservertest.Hello()
	hello.Backend.Namespace = "others"
	stream := s.Report(t)
	stream.Send(&pb.ReportRequest{Message: &pb.ReportRequest_Hello{Hello: hello}})
	wantEnd(t, stream, codes.PermissionDenied, "others/cache has no engines in team")
	if views, _ := s.Index.Holders(s.Clock.Now()); len(views) != 0 {
		t.Errorf("the index has a holder: %v", views)
	}
}
