/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/indexserver"
	"inferencecache.io/inference-cache/pkg/indexserver/indexservertest"
)

// questions are lookups that end with different reasons.
func questions() []*pb.LookupRouteRequest {
	return []*pb.LookupRouteRequest{
		{TenantId: "team", ModelId: "llama", TokenIds: tokens(1, 70), Explain: true},
		{TenantId: "team", ModelId: "llama", TokenIds: tokens(1000, 1070), AdapterId: "sql"},
		{TenantId: "team", ModelId: "none", TokenIds: tokens(1, 70)},
		{TenantId: "team", ModelId: "llama", TopK: -1},
	}
}

// singly answers the questions one by one.
func singly(t *testing.T, s *indexservertest.Instance) []*pb.LookupRouteResponse {
	t.Helper()
	var want []*pb.LookupRouteResponse
	for _, q := range questions() {
		want = append(want, lookup(t, s, q))
	}
	return want
}

func TestLookupRoutesAnswersAsLookupRouteDoes(t *testing.T) {
	s, _ := startWithPrompt(t)
	got, err := s.Client(t).LookupRoutes(t.Context(), &pb.LookupRoutesRequest{Requests: questions()})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(singly(t, s), got.GetResponses(), protocmp.Transform()); diff != "" {
		t.Errorf("answers (-singly +together):\n%s", diff)
	}
}

func TestLookupRouteStreamAnswersInOrder(t *testing.T) {
	s, _ := startWithPrompt(t)
	stream, err := s.Client(t).LookupRouteStream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range questions() {
		if err := stream.Send(q); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	var got []*pb.LookupRouteResponse
	for {
		response, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, response)
	}
	if diff := cmp.Diff(singly(t, s), got, protocmp.Transform()); diff != "" {
		t.Errorf("answers (-singly +streamed):\n%s", diff)
	}
}

func TestRefusedBatches(t *testing.T) {
	s := indexservertest.Start(t, indexservertest.WithAuthorizer(gatekeeper{"team"}))
	mine, others := &pb.LookupRouteRequest{TenantId: "team"}, &pb.LookupRouteRequest{TenantId: "others"}
	repeated := func(n int) []*pb.LookupRouteRequest {
		var all []*pb.LookupRouteRequest
		for range n {
			all = append(all, mine)
		}
		return all
	}
	tests := map[string]struct {
		requests []*pb.LookupRouteRequest
		code     codes.Code
		text     string
	}{
		"nothing":           {nil, codes.OK, ""},
		"as many as can be": {repeated(indexserver.MaxLookups), codes.OK, ""},
		"one too many":      {repeated(indexserver.MaxLookups + 1), codes.InvalidArgument, "requests: 257 lookups, at most 256 are taken"},
		"another tenant":    {[]*pb.LookupRouteRequest{mine, others}, codes.PermissionDenied, "requests[1]: "},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := s.Client(t).LookupRoutes(t.Context(), &pb.LookupRoutesRequest{Requests: test.requests})
			if status.Code(err) != test.code || (err != nil && !strings.Contains(err.Error(), test.text)) {
				t.Errorf("got %v, want %s and %q", err, test.code, test.text)
			}
			if err == nil && len(got.GetResponses()) != len(test.requests) {
				t.Errorf("%d answers to %d lookups", len(got.GetResponses()), len(test.requests))
			}
		})
	}
	t.Run("another tenant in a stream", func(t *testing.T) {
		stream, err := s.Client(t).LookupRouteStream(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = stream.Send(mine), stream.Send(others)
		if _, err := stream.Recv(); err != nil {
			t.Errorf("the own tenant: %v", err)
		}
		if _, err := stream.Recv(); status.Code(err) != codes.PermissionDenied {
			t.Errorf("the other tenant: got %v, want PermissionDenied", err)
		}
	})
}

func TestLookupStreamsEndWithTheServer(t *testing.T) {
	s, _ := startWithPrompt(t)
	stream, err := s.Client(t).LookupRouteStream(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(questions()[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	s.Stop()
	if _, err := stream.Recv(); status.Code(err) != codes.Unavailable {
		t.Errorf("got %v, want Unavailable", err)
	}
}
