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
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/indexserver"
	"inferencecache.io/inference-cache/pkg/indexserver/indexservertest"
)

// burst is how many mistakes an address may make at once.
const burst = 64

// crowd is an Authenticator and an Authorizer that take one token, and of tenants
// those that are not somebody else's.
type crowd struct {
	indexserver.AllowAll

	right          string
	revoked        atomic.Bool
	asked, decided atomic.Int64
	// hold, when set, keeps questions until it is closed.
	hold atomic.Pointer[chan struct{}]
}

// wait waits for as long as questions are kept.
func (c *crowd) wait() {
	if hold := c.hold.Load(); hold != nil {
		<-*hold
	}
}

func (c *crowd) Authenticate(_ context.Context, token string) (indexserver.Identity, error) {
	c.asked.Add(1)
	c.wait()
	if token != c.right || c.revoked.Load() {
		return indexserver.Identity{}, errClosed
	}
	return indexserver.Identity{Name: "router"}, nil
}

func (c *crowd) MayLookup(_ context.Context, _ indexserver.Identity, tenant string) error {
	c.decided.Add(1)
	c.wait()
	if strings.HasPrefix(tenant, "others") {
		return errors.New("not yours")
	}
	return nil
}

func startCrowd(t *testing.T, c *crowd) *indexservertest.Instance {
	t.Helper()
	s := indexservertest.Start(t, func(config *indexserver.Config) {
		config.Authenticator, config.Authorizer = c, c
		// Below the lease, so that a silent stream lives to see it.
		config.ReviewInterval = 8 * time.Second
	})
	c.right = s.Token
	return s
}

// guesses returns what sends a wrong token, never the same one twice.
func guesses(t *testing.T, s *indexservertest.Instance) func() error {
	client := pb.NewInferenceCacheClient(s.DialWith(t))
	var n atomic.Int64
	return func() error {
		ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", fmt.Sprint("Bearer guess", n.Add(1)))
		_, err := client.LookupRoute(ctx, &pb.LookupRouteRequest{TenantId: "team"})
		return err
	}
}

// TestGuessesDelayNobodyWhoIsKnown sends wrong tokens from the address of a router,
// which was heard before.
func TestGuessesDelayNobodyWhoIsKnown(t *testing.T) {
	c := &crowd{}
	s := startCrowd(t, c)
	client, guess := s.Client(t), guesses(t, s)
	ask := func() error {
		_, err := client.LookupRoute(t.Context(), &pb.LookupRouteRequest{TenantId: "team"})
		return err
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	s.Clock.Step(6 * time.Second)
	for range burst + 1 {
		if err := guess(); status.Code(err) != codes.Unauthenticated {
			t.Fatal(err)
		}
	}
	if err := ask(); err != nil {
		t.Errorf("a router pays for its neighbour: %v", err)
	}
}

// TestGuessesPutOffNoReview sends wrong tokens all the time, from the address of a
// stream whose own is revoked.
func TestGuessesPutOffNoReview(t *testing.T) {
	c := &crowd{}
	s := startCrowd(t, c)
	guess := guesses(t, s)
	stream, _ := s.Open(t, indexservertest.Hello())
	for range burst {
		_ = guess()
	}
	c.revoked.Store(true)
	const step = 200 * time.Millisecond
	for at := time.Duration(0); at < 12*time.Second; at += step {
		_ = guess()
		s.Clock.Step(step)
	}
	wantEnd(t, stream, codes.Unauthenticated, "is not valid any more")
}

// TestSlowAnswersPutOffNoReview revokes the token of a stream while the cluster takes
// longer to say so than a lookup waits.
func TestSlowAnswersPutOffNoReview(t *testing.T) {
	c := &crowd{}
	s := startCrowd(t, c)
	stream, _ := s.Open(t, indexservertest.Hello())
	before := c.asked.Load()
	hold := make(chan struct{})
	c.hold.Store(&hold)
	c.revoked.Store(true)
	indexservertest.Await(t, "the question", func() bool {
		s.Clock.Step(time.Second)
		return c.asked.Load() > before
	})
	s.Clock.Step(2 * time.Second)
	stream.Heartbeat(0)
	stream.Receive()
	close(hold)
	wantEnd(t, stream, codes.Unauthenticated, "is not valid any more")
}

// TestGuessesThatComeTogether sends many wrong tokens before the first is answered.
func TestGuessesThatComeTogether(t *testing.T) {
	c := &crowd{}
	s := startCrowd(t, c)
	hold := make(chan struct{})
	c.hold.Store(&hold)
	guess := guesses(t, s)
	const guesses, atOnce = 400, 32
	var calls sync.WaitGroup
	for range guesses {
		calls.Go(func() {
			if err := guess(); status.Code(err) != codes.Unauthenticated {
				t.Errorf("got %v, want Unauthenticated", err)
			}
		})
	}
	indexservertest.Await(t, "the first questions", func() bool { return c.asked.Load() >= atOnce })
	close(hold)
	calls.Wait()
	if got := c.asked.Load(); got > burst+atOnce {
		t.Errorf("%d questions about %d guesses, want at most %d", got, guesses, burst+atOnce)
	}
}

// TestForeignTenantsAreAskedAboutSoOften asks about tenants of others: what that costs
// the cluster is bounded, and takes nothing from the tenants that may be asked about.
func TestForeignTenantsAreAskedAboutSoOften(t *testing.T) {
	c := &crowd{}
	s := startCrowd(t, c)
	client := s.Client(t)
	ask := func(tenant string) error {
		_, err := client.LookupRoute(t.Context(), &pb.LookupRouteRequest{TenantId: tenant})
		return err
	}
	if err := ask("team"); err != nil {
		t.Fatal(err)
	}
	s.Clock.Step(6 * time.Second)
	for i := range burst + 10 {
		if err := ask(fmt.Sprint("others", i)); status.Code(err) != codes.PermissionDenied {
			t.Fatalf("got %v, want PermissionDenied", err)
		}
	}
	if got := c.decided.Load(); got != 1+burst {
		t.Errorf("%d questions about tenants, want %d", got, 1+burst)
	}
	if err := ask("team"); err != nil {
		t.Errorf("a tenant that was allowed: %v", err)
	}
	const want = "too many questions about tenants that were refused came from this address; it is asked again in a moment"
	if err := ask("second"); status.Convert(err).Message() != want {
		t.Errorf("a tenant that was not asked about: %v, want %s", err, want)
	}
	s.Clock.Step(time.Second)
	if err := ask("second"); err != nil {
		t.Errorf("a moment later: %v", err)
	}
}

// TestNoTenantIsThatLong asks about a tenant that no report can name. It costs no
// question, and nothing is remembered of it.
func TestNoTenantIsThatLong(t *testing.T) {
	c := &crowd{}
	s := startCrowd(t, c)
	answer, err := s.Client(t).LookupRoute(t.Context(), &pb.LookupRouteRequest{TenantId: strings.Repeat("x", 257), Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	const want = "tenant_id: 257 bytes, at most 256 are taken"
	if got := answer.GetExplanation(); got != want {
		t.Errorf("got %v, want %s", answer, want)
	}
	if got := c.decided.Load(); got != 0 {
		t.Errorf("%d questions", got)
	}
}

// TestRevokedWithoutReading revokes the token of an engine that does not read what it
// is sent, so that its stream cannot be told.
func TestRevokedWithoutReading(t *testing.T) {
	c := &crowd{}
	s := startCrowd(t, c)
	const window = 64 << 10
	conn := s.DialWith(t, grpc.WithInitialWindowSize(window), grpc.WithInitialConnWindowSize(window))
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+s.Token)
	stream, err := pb.NewInferenceCacheClient(conn).Report(ctx)
	if err != nil {
		t.Fatal(err)
	}
	send := func(req *pb.ReportRequest) {
		if err := stream.Send(req); err != nil {
			t.Fatal(err)
		}
	}
	send(&pb.ReportRequest{Message: &pb.ReportRequest_Hello{Hello: indexservertest.Hello()}})
	// Acknowledgements fill the window; then the server reads no more.
	full := make(chan struct{})
	var sent atomic.Int64
	go func() {
		defer close(full)
		for stream.Send(&pb.ReportRequest{Message: &pb.ReportRequest_Heartbeat{Heartbeat: &pb.Heartbeat{}}}) == nil {
			sent.Add(1)
		}
	}()
	last, quiet := int64(0), 0
	indexservertest.Await(t, "a full window", func() bool {
		before := last
		last = sent.Load()
		if quiet++; last != before || last == 0 {
			quiet = 0
		}
		return quiet > 50
	})
	c.revoked.Store(true)
	indexservertest.Await(t, "the end of the engine's time", func() bool {
		s.Clock.Step(500 * time.Millisecond)
		views, _ := s.Index.Holders(s.Clock.Now())
		return len(views) == 0 || views[0].State == index.Suspect
	})
	select {
	case <-full:
		t.Error("the stream was not full")
	default:
	}
}
