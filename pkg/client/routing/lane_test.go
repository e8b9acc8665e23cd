/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// TestLaneIsShared holds that lookups share a stream and that each gets its own
// answer.
func TestLaneIsShared(t *testing.T) {
	index := startIndex(t, newAuthority(t), "a")
	client := newTestClient(t, index)
	awaitLane(t, client, index)
	before := index.calls.Load()
	together(16, func(caller int) {
		for i := range 50 {
			query := aQuery()
			query.Adapter = fmt.Sprintf("%d-%d", caller, i)
			answer := client.Lookup(t.Context(), query)
			if best, _ := answer.Best(); best.ID != "engine-"+query.Adapter {
				t.Errorf("%s got the answer of %s (%v)", query.Adapter, best.ID, answer.Err)
				return
			}
		}
	})
	if calls := index.calls.Load() - before; calls > 0 || index.streamed.Load() != 16*50 {
		t.Errorf("%d calls and %d lookups on the stream", calls, index.streamed.Load())
	}
}

// TestCallsOfTheirOwn holds which lookups do not share a stream.
func TestCallsOfTheirOwn(t *testing.T) {
	index := startIndex(t, newAuthority(t), "a")
	client := newTestClient(t, index)
	awaitLane(t, client, index)
	cases := map[string]struct {
		query  Query
		shared int64
	}{
		"ordinary":     {aQuery(), 1},
		"8,192 blocks": {Query{Chain: make([]uint64, 8192)}, 1},
		"too long":     {Query{Chain: make([]uint64, 1<<15)}, 0},
		"with text":    {Query{Text: "hi"}, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before := index.streamed.Load()
			if answer := client.Lookup(t.Context(), tc.query); answer.Err != nil {
				t.Fatal(answer.Err)
			}
			if shared := index.streamed.Load() - before; shared != tc.shared {
				t.Errorf("%d lookups on the stream, want %d", shared, tc.shared)
			}
		})
	}
}

// TestLaneFallsBack holds that lookups are answered by calls when the stream does
// not work, and counts nothing against the replica.
func TestLaneFallsBack(t *testing.T) {
	cases := map[string]func(*fakeIndex){
		"no streams": func(f *fakeIndex) { f.streams.Store(false) },
		"it ends with every lookup": func(f *fakeIndex) {
			f.answers(func(ctx context.Context, request *pb.LookupRouteRequest) (*pb.LookupRouteResponse, error) {
				if grpc.ServerTransportStreamFromContext(ctx).Method() == pb.InferenceCache_LookupRouteStream_FullMethodName {
					return nil, status.Error(codes.PermissionDenied, "not for you")
				}
				return f.match(ctx, request)
			})
		},
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			index := startIndex(t, newAuthority(t), "a")
			change(index)
			client := newTestClient(t, index)
			awaitStanding(t, client, index, serving)
			for range 50 {
				mustMatch(t, client)
			}
			if p := peerOf(client, index); standing(p.standing.Load()) != serving {
				t.Errorf("the replica is %v", standing(p.standing.Load()))
			}
		})
	}
}

// TestStalledLane holds that a stream that does not move is replaced.
func TestStalledLane(t *testing.T) {
	index := startIndex(t, newAuthority(t), "a")
	var stuck atomic.Bool
	stuck.Store(true)
	index.answers(func(ctx context.Context, request *pb.LookupRouteRequest) (*pb.LookupRouteResponse, error) {
		if stuck.CompareAndSwap(true, false) {
			return silent(ctx, request)
		}
		return index.match(ctx, request)
	})
	options := testOptions(t, index.ca)
	options.Servers, options.Timeout = []string{index.address}, 4*time.Second
	client := startClient(t, options)
	first := awaitLane(t, client, index)
	// The stream is ended, and the lookup asked again by a call.
	mustMatch(t, client)
	await(t, "another stream", func() bool { return awaitLane(t, client, index) != first })
	mustMatch(t, client)
}

// TestOldLane holds that a stream does not live for ever, and that what waits on it
// is still answered.
func TestOldLane(t *testing.T) {
	index := startIndex(t, newAuthority(t), "a")
	asked, proceed := make(chan struct{}), make(chan struct{})
	index.answers(func(ctx context.Context, request *pb.LookupRouteRequest) (*pb.LookupRouteResponse, error) {
		asked <- struct{}{}
		<-proceed
		return index.match(ctx, request)
	})
	options := testOptions(t, index.ca)
	options.Servers, options.HealthInterval = []string{index.address}, time.Hour
	client := startClient(t, options)
	old := awaitLane(t, client, index)
	underway := make(chan Answer)
	go func() { underway <- client.Lookup(t.Context(), aQuery()) }()
	<-asked
	p := peerOf(client, index)
	new(lanePace).keep(p) // to which every stream is old
	if p.lane.Load() == old {
		t.Fatal("the old stream stays")
	}
	if old.ask(&pb.LookupRouteRequest{ModelId: "llama"}, nil) {
		t.Error("the old stream takes a lookup")
	}
	close(proceed)
	if answer := <-underway; answer.Err != nil || index.calls.Load() != 0 {
		t.Errorf("answer %+v after %d calls", answer, index.calls.Load())
	}
	await(t, "the old stream to end", old.over)
}

// TestLaneBounds holds that a lane never takes what it might block on.
func TestLaneBounds(t *testing.T) {
	for name, size := range map[string]int{"small": 100, "half": laneBytes / 2, "large": laneMessage - 100} {
		t.Run(name, func(t *testing.T) {
			index := startIndex(t, newAuthority(t), "a")
			index.answers(silent)
			options := testOptions(t, index.ca)
			options.Servers, options.HealthInterval = []string{index.address}, time.Hour
			client := startClient(t, options)
			lane := awaitLane(t, client, index)
			request := &pb.LookupRouteRequest{PackedBlockHashes: make([]byte, size)}
			var replies atomic.Int64
			taken := 0
			for lane.ask(request, func(*pb.LookupRouteResponse, error) { replies.Add(1) }) {
				taken++
			}
			if want := min(laneLookups, laneBytes/(size+3)+1); taken < 1 || taken > want {
				t.Errorf("%d lookups were taken, want up to %d", taken, want)
			}
			client.Close()
			await(t, "the end of the stream", lane.over)
			if replies.Load() != int64(taken) {
				t.Errorf("%d replies to %d lookups", replies.Load(), taken)
			}
		})
	}
}

// TestLanePace holds that an index without streams is asked for one ever more
// rarely.
func TestLanePace(t *testing.T) {
	index := startIndex(t, newAuthority(t), "a")
	index.streams.Store(false)
	options := testOptions(t, index.ca)
	options.HealthInterval = time.Second
	p, err := newPeer(t.Context(), index.address, "127.0.0.1", &options, &fileToken{path: options.TokenFile})
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	pace := lanePace{life: laneLife}
	pace.keep(p)
	if p.lane.Load() != nil {
		t.Error("a stream was opened to a replica that has not been heard")
	}
	var pauses []time.Duration
	for range 8 {
		p.answered(true)
		last := p.lane.Load()
		pace.next = 0
		pace.keep(p)
		await(t, "the stream to fail", func() bool { l := p.lane.Load(); return l != last && l.over() })
		pauses = append(pauses, pace.pause/time.Second)
	}
	if diff := cmp.Diff([]time.Duration{1, 2, 4, 8, 16, 32, 60, 60}, pauses); diff != "" {
		t.Errorf("pauses in seconds (-want +got):\n%s", diff)
	}
}
