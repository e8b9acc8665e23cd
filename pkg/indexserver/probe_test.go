/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"inferencecache.io/inference-cache/pkg/fingerprint"
	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/indexserver"
	"inferencecache.io/inference-cache/pkg/indexserver/indexservertest"
)

// probe probes a server at the address that it serves on.
func probe(t *testing.T, s *indexservertest.Instance) indexserver.ProbeReport {
	t.Helper()
	report, err := prober(t, s).Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func prober(t *testing.T, s *indexservertest.Instance) *indexserver.Prober {
	t.Helper()
	p, err := s.Server.Prober(s.Listening)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// scraped returns the samples of everything that the server registered.
func scraped(t *testing.T, s *indexservertest.Instance) []string {
	t.Helper()
	families, err := s.Metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range families {
		for _, m := range f.GetMetric() {
			lines = append(lines, f.GetName()+" "+m.String())
		}
	}
	return lines
}

func TestProbe(t *testing.T) {
	s := indexservertest.Start(t)
	seed(t, s, 11, 12)
	holders, _ := s.Index.Holders(s.Clock.Now())
	metrics := scraped(t, s)
	for range 3 {
		if diff := cmp.Diff(indexserver.ProbeReport{}, probe(t, s)); diff != "" {
			t.Fatalf("report (-want +got):\n%s", diff)
		}
	}
	s.Index.Expire(s.Clock.Now())
	if diff := cmp.Diff(metrics, scraped(t, s)); diff != "" {
		t.Errorf("probes show in the metrics (-before +after):\n%s", diff)
	}
	after, _ := s.Index.Holders(s.Clock.Now())
	if diff := cmp.Diff(holders, after); diff != "" {
		t.Errorf("probes show in the index (-before +after):\n%s", diff)
	}
}

func TestProbesShowToNobody(t *testing.T) {
	s := indexservertest.Start(t)
	seed(t, s, 11, 12)
	client := s.Client(t)
	p := prober(t, s)
	done := make(chan error, 1)
	go func() {
		for range 100 {
			if report, err := p.Probe(t.Context()); err != nil || report != (indexserver.ProbeReport{}) {
				done <- status.Errorf(codes.Internal, "%+v %v", report, err)
				return
			}
		}
		done <- nil
	}()
	metrics := scraped(t, s)
	for running := true; running; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			running = false
		default:
		}
		if views, complete := s.Index.Holders(s.Clock.Now()); len(views) != 1 || !complete {
			t.Fatalf("%d holders, complete %t", len(views), complete)
		}
		if diff := cmp.Diff(map[string]int64{"team": 2}, s.Index.Prefixes()); diff != "" {
			t.Fatalf("prefixes (-want +got):\n%s", diff)
		}
		for _, tenant := range []string{"", indexserver.ReservedTenant} {
			state, err := client.GetCacheState(t.Context(), &pb.GetCacheStateRequest{TenantId: tenant})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range state.GetReplicas() {
				if r.GetPod() != "engine-0" {
					t.Fatalf("tenant %q has replica %s", tenant, r.GetReplicaId())
				}
			}
		}
		if diff := cmp.Diff(steady(metrics), steady(scraped(t, s))); diff != "" {
			t.Fatalf("probes show in the metrics (-before +after):\n%s", diff)
		}
	}
}

// steady leaves out what may change while probes run: the memory that is taken, and what
// the test itself asks.
func steady(samples []string) []string {
	return slices.DeleteFunc(slices.Clone(samples), func(sample string) bool {
		return strings.HasPrefix(sample, "inferencecache_index_memory_bytes") ||
			strings.HasPrefix(sample, "inferencecache_authentications_total") ||
			strings.HasPrefix(sample, "inferencecache_authorizations_total")
	})
}

func TestNobodyElseProbes(t *testing.T) {
	named := func(c *indexserver.Config) {
		c.Authenticator = indexserver.SingleToken("correct-horse", indexserver.Identity{Name: indexserver.ReservedTenant})
	}
	tests := map[string]indexservertest.Option{
		"who may everything":          func(*indexserver.Config) {},
		"who has the name of a probe": named,
	}
	for name, option := range tests {
		t.Run(name, func(t *testing.T) {
			s := indexservertest.Start(t, option)
			stream := s.Report(t)
			hello := indexservertest.Hello()
			hello.TenantId = indexserver.ReservedTenant
			stream.Send(&pb.ReportRequest{Message: &pb.ReportRequest_Hello{Hello: hello}})
			wantEnd(t, stream, codes.PermissionDenied, "nobody may report for inferencecache.io/probe")
			answer := lookup(t, s, &pb.LookupRouteRequest{TenantId: indexserver.ReservedTenant, ModelId: "m", TokenIds: tokens(1, 17)})
			if answer.GetReasonCode() != "NO_HINT" || len(answer.GetReplicaScores()) != 0 {
				t.Errorf("a lookup is answered %v", answer)
			}
		})
	}
}

// TestProbesAreForProbes takes the token of the probes elsewhere.
func TestProbesAreForProbes(t *testing.T) {
	s := indexservertest.Start(t)
	seed(t, s, 11, 12)
	client := pb.NewInferenceCacheClient(s.DialWith(t, s.WithToken(s.Server.ProbeToken())))
	_, err := client.LookupRoute(t.Context(), &pb.LookupRouteRequest{TenantId: "team", ModelId: "llama"})
	if status.Code(err) != codes.PermissionDenied {
		t.Errorf("a lookup for another tenant: %v", err)
	}
	_, err = client.GetCacheState(t.Context(), &pb.GetCacheStateRequest{})
	if status.Code(err) != codes.PermissionDenied {
		t.Errorf("the state of all tenants: %v", err)
	}
	stream, err := client.Report(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(&pb.ReportRequest{Message: &pb.ReportRequest_Hello{Hello: indexservertest.Hello()}}); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); status.Code(err) != codes.PermissionDenied {
		t.Errorf("a report for another tenant: %v", err)
	}
}

// TestProbeCutOff kills a probe between its report and its end, as the death of a
// connection does.
func TestProbeCutOff(t *testing.T) {
	s := indexservertest.Start(t)
	client := pb.NewInferenceCacheClient(s.DialWith(t, s.WithToken(s.Server.ProbeToken())))
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := client.Report(ctx)
	if err != nil {
		t.Fatal(err)
	}
	hello := indexservertest.Hello()
	hello.TenantId, hello.Backend, hello.Holder = indexserver.ReservedTenant, nil, &pb.Holder{Pod: "p"}
	chain := chainOf(fingerprint.Parent{}, tokens(1, blockSize))
	for _, request := range []*pb.ReportRequest{
		{Message: &pb.ReportRequest_Hello{Hello: hello}},
		{Message: &pb.ReportRequest_Delta{Delta: &pb.Delta{Sequence: 1, Changes: append(indexservertest.Declare(blockSize), indexservertest.Store(chain...))}}},
	} {
		if err := stream.Send(request); err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Recv(); err != nil {
			t.Fatal(err)
		}
	}
	held := func() bool {
		found, _ := s.Index.Lookup(&index.Query{
			Tenant: indexserver.ReservedTenant, Model: "llama", Chains: []index.Chain{{BlockSize: blockSize, Hashes: chain}}, PromptTokens: 17,
		}, nil)
		return len(found) > 0
	}
	if !held() {
		t.Fatal("what a probe reports is not in the index")
	}
	cancel()
	indexservertest.Await(t, "the end of the probe's holder", func() bool { return !held() })
}

func TestProbeNeedsAnIndexThatHides(t *testing.T) {
	s := indexservertest.Start(t, indexservertest.WithIndex(index.New(index.Options{}, time.Now())))
	if _, err := s.Server.Prober(s.Listening); err == nil || !strings.Contains(err.Error(), "does not hide the tenant") {
		t.Errorf("got error %v", err)
	}
}

// BenchmarkProbe is what a probe costs: a connection, a session, two lookups.
func BenchmarkProbe(b *testing.B) {
	s := indexservertest.Start(b)
	p, err := s.Server.Prober(s.Listening)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if report, err := p.Probe(b.Context()); err != nil || report != (indexserver.ProbeReport{}) {
			b.Fatalf("got %+v, error %v", report, err)
		}
	}
}
