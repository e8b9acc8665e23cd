/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// numbered returns queries that differ in their adapter.
func numbered(n, blocks int) []Query {
	queries := make([]Query, n)
	for i := range queries {
		queries[i] = Query{Tenant: "team", Model: "llama", Adapter: strconv.Itoa(i), Chain: make([]uint64, blocks)}
	}
	return queries
}

// TestLookupBatch holds that answers keep the order of the queries, over several
// calls and around queries that nobody can be asked.
func TestLookupBatch(t *testing.T) {
	cases := map[string]struct {
		queries, blocks int
		calls           int64
	}{
		"none":        {0, 1, 0},
		"one":         {1, 1, 1},
		"one call":    {256, 1, 1},
		"three calls": {600, 1, 3},
		"long chains": {3, 8192, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			index := startIndex(t, newAuthority(t), "a")
			client := newTestClient(t, index)
			answers := client.LookupBatch(t.Context(), numbered(tc.queries, tc.blocks))
			if len(answers) != tc.queries || index.batches.Load() != tc.calls {
				t.Fatalf("%d answers from %d calls, want %d from %d", len(answers), index.batches.Load(), tc.queries, tc.calls)
			}
			for i, answer := range answers {
				if best, ok := answer.Best(); !ok || best.ID != "engine-"+strconv.Itoa(i) {
					t.Fatalf("answer %d is %+v", i, answer)
				}
			}
		})
	}
}

// TestSplit holds that no call is larger than an index reads, and that no query is
// lost between calls.
func TestSplit(t *testing.T) {
	cases := map[string]struct {
		queries, blocks int
		want            []int
	}{
		"short chains":    {600, 1, []int{256, 256, 88}},
		"long chains":     {20, 1 << 17, []int{7, 7, 6}},
		"longest chains":  {2, MaxTokens, []int{1, 1}},
		"nothing to send": {0, 1, nil},
	}
	// What package indexserver reads unless it is told otherwise.
	const readable = 12 << 20
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			queries := numbered(tc.queries, tc.blocks)
			for i := range queries {
				queries[i].BlockSize = 16
			}
			var sizes, positions []int
			for _, part := range split(queries, make([]Answer, len(queries))) {
				if size := proto.Size(part.question.request); size > readable {
					t.Errorf("a call has %d bytes", size)
				}
				sizes = append(sizes, len(part.question.request.GetRequests()))
				positions = append(positions, part.positions...)
			}
			if diff := cmp.Diff(tc.want, sizes); diff != "" {
				t.Errorf("lookups per call (-want +got):\n%s", diff)
			}
			for i, position := range positions {
				if i != position {
					t.Fatalf("query %d is sent as number %d", position, i)
				}
			}
		})
	}
}

func TestLookupBatchWithBadQueries(t *testing.T) {
	client := newTestClient(t, startIndex(t, newAuthority(t), "a"))
	queries := numbered(5, 1)
	queries[0], queries[3] = Query{}, Query{Text: "\xff"}
	for i, answer := range client.LookupBatch(t.Context(), queries) {
		if bad := i == 0 || i == 3; bad != (answer.Err != nil) || bad != (answer.Reason == NoHint) {
			t.Errorf("answer %d is %+v", i, answer)
		}
	}
}

// miscounting answers all lookups but one.
type miscounting struct{ pb.InferenceCacheClient }

// LookupRoutes implements pb.InferenceCacheClient.
func (miscounting) LookupRoutes(_ context.Context, in *pb.LookupRoutesRequest, _ ...grpc.CallOption) (*pb.LookupRoutesResponse, error) {
	return &pb.LookupRoutesResponse{Responses: make([]*pb.LookupRouteResponse, len(in.GetRequests())-1)}, nil
}

// TestLookupBatchFailures holds that what befalls a call befalls all its queries.
func TestLookupBatchFailures(t *testing.T) {
	cases := map[string]struct {
		prepare func(*fakeIndex, *Client)
		reason  Reason
		err     string
	}{
		"an index that is gone":   {func(f *fakeIndex, _ *Client) { f.server.Stop() }, NoHint, "code = Unavailable"},
		"an index that is silent": {func(f *fakeIndex, _ *Client) { f.answers(silent) }, Timeout, "deadline exceeded"},
		"too few answers": {func(f *fakeIndex, c *Client) {
			p := peerOf(c, f)
			p.client = miscounting{p.client}
		}, NoHint, "2 answers to 3 lookups"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			index := startIndex(t, newAuthority(t), "a")
			options := testOptions(t, index.ca)
			options.Servers, options.Timeout, options.HealthInterval = []string{index.address}, time.Second, time.Hour
			client := startClient(t, options)
			awaitLane(t, client, index)
			tc.prepare(index, client)
			for i, answer := range client.LookupBatch(t.Context(), numbered(3, 1)) {
				if answer.Reason != tc.reason || answer.Err == nil || !strings.Contains(answer.Err.Error(), tc.err) {
					t.Errorf("answer %d is %+v", i, answer)
				}
				if tc.reason == Timeout && !errors.Is(answer.Err, context.DeadlineExceeded) {
					t.Errorf("error %v", answer.Err)
				}
			}
		})
	}
}

// TestLookupBatchPrefersComplete holds that a batch moves on to a replica that
// misses nothing.
func TestLookupBatchPrefersComplete(t *testing.T) {
	ca := newAuthority(t)
	a, b := startIndex(t, ca, "a"), startIndex(t, ca, "b")
	a.answers(a.partly)
	client := newTestClient(t, a, b)
	awaitStanding(t, client, b, serving)
	for range 20 {
		for i, answer := range client.LookupBatch(t.Context(), numbered(3, 1)) {
			if answer.ObservedBy != "b" {
				t.Fatalf("answer %d is %+v", i, answer)
			}
		}
	}
}
