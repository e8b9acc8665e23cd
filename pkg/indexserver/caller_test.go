/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/indexserver"
	"inferencecache.io/inference-cache/pkg/indexserver/indexservertest"
)

// registry is an Authenticator and an Authorizer that count and can be closed.
type registry struct {
	indexserver.AllowAll

	asked, decided atomic.Int64
	closed, down   atomic.Bool
}

var (
	errClosed = errors.New("closed")
	errDown   = status.Error(codes.Unavailable, "down")
)

func (r *registry) Authenticate(context.Context, string) (indexserver.Identity, error) {
	r.asked.Add(1)
	if r.down.Load() {
		return indexserver.Identity{}, errDown
	}
	if r.closed.Load() {
		return indexserver.Identity{}, errClosed
	}
	return indexserver.Identity{Name: "router"}, nil
}

func (r *registry) MayLookup(_ context.Context, _ indexserver.Identity, tenant string) error {
	r.decided.Add(1)
	if r.down.Load() {
		return errDown
	}
	if tenant == "others" {
		return errClosed
	}
	return nil
}

func (r *registry) use(c *indexserver.Config) { c.Authenticator, c.Authorizer = r, r }

func TestDecisionsStandForAWhile(t *testing.T) {
	r := &registry{}
	s := indexservertest.Start(t, r.use)
	client := s.Client(t)
	ask := func(tenant string) codes.Code {
		_, err := client.LookupRoute(t.Context(), &pb.LookupRouteRequest{TenantId: tenant})
		return status.Code(err)
	}
	steps := []struct {
		name           string
		before         func()
		tenant         string
		want           codes.Code
		asked, decided int64
	}{
		{"the first call asks", func() {}, "team", codes.OK, 1, 1},
		{"the second does not", func() {}, "team", codes.OK, 1, 1},
		{"another tenant is another question", func() {}, "second", codes.OK, 1, 2},
		{"a refusal is one", func() {}, "others", codes.PermissionDenied, 1, 3},
		{"and is not remembered", func() {}, "others", codes.PermissionDenied, 1, 4},
		{"within the time a closed door is not noticed", func() { r.closed.Store(true); s.Clock.Step(4 * time.Second) }, "team", codes.OK, 1, 4},
		{"after it, it is", func() { s.Clock.Step(time.Second) }, "team", codes.Unauthenticated, 2, 4},
		{"and every time", func() {}, "team", codes.Unauthenticated, 3, 4},
		{"until it opens", func() { r.closed.Store(false) }, "team", codes.OK, 4, 5},
	}
	for _, step := range steps {
		step.before()
		if got := ask(step.tenant); got != step.want || r.asked.Load() != step.asked || r.decided.Load() != step.decided {
			t.Errorf("%s: got %s after %d and %d questions, want %s after %d and %d",
				step.name, got, r.asked.Load(), r.decided.Load(), step.want, step.asked, step.decided)
		}
	}
}

// TestAnOutageOfTheClusterEndsNobody lets nobody answer who may call: who could
// before still can for a while, and nobody else.
func TestAnOutageOfTheClusterEndsNobody(t *testing.T) {
	r := &registry{}
	s := indexservertest.Start(t, r.use)
	client := s.Client(t)
	steps := []struct {
		name   string
		before func()
		tenant string
		want   codes.Code
	}{
		{"before the outage", func() {}, "team", codes.OK},
		{"when nobody can be asked any more", func() { r.down.Store(true); s.Clock.Step(6 * time.Second) }, "team", codes.OK},
		{"about a tenant that was not asked about before", func() {}, "second", codes.Unavailable},
		{"after nine minutes", func() { s.Clock.Step(9 * time.Minute) }, "team", codes.OK},
		{"after more than ten", func() { s.Clock.Step(time.Minute) }, "team", codes.Unavailable},
		{"after the outage", func() { r.down.Store(false) }, "team", codes.OK},
		{"in the next one", func() { r.down.Store(true); s.Clock.Step(6 * time.Second) }, "team", codes.OK},
		{"when the token is found not to be good any more", func() { r.down.Store(false); r.closed.Store(true); s.Clock.Step(6 * time.Second) }, "team", codes.Unauthenticated},
		{"which the next outage does not forgive", func() { r.down.Store(true) }, "team", codes.Unavailable},
	}
	for _, step := range steps {
		step.before()
		_, err := client.LookupRoute(t.Context(), &pb.LookupRouteRequest{TenantId: step.tenant})
		if got := status.Code(err); got != step.want {
			t.Errorf("%s: got %s, want %s", step.name, got, step.want)
		}
	}
}

// TestASlowClusterDelaysNobodyForLong lets a question about a caller who is known
// go unanswered.
func TestASlowClusterDelaysNobodyForLong(t *testing.T) {
	release := make(chan struct{})
	slow := &slowAuthenticator{release: release}
	s := indexservertest.Start(t, func(c *indexserver.Config) { c.Authenticator = slow })
	client := s.Client(t)
	failed := make(chan error, 1)
	ask := func() {
		_, err := client.LookupRoute(t.Context(), &pb.LookupRouteRequest{TenantId: "team"})
		failed <- err
	}
	go ask()
	release <- struct{}{}
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	s.Clock.Step(6 * time.Second)
	go ask()
	indexservertest.Await(t, "the second question", func() bool { return slow.asked.Load() == 2 })
	indexservertest.Await(t, "an answer without the cluster's", func() bool {
		s.Clock.Step(time.Second)
		return len(failed) == 1
	})
	if err := <-failed; err != nil {
		t.Error(err)
	}
	// Who comes later does not wait for the same answer once more.
	s.Clock.Step(10 * time.Second)
	ask()
	if err := <-failed; err != nil {
		t.Error(err)
	}
	close(release)
}

// TestMoreTenantsThanAreRemembered asks about more tenants than are kept, which is
// slower and otherwise the same.
func TestMoreTenantsThanAreRemembered(t *testing.T) {
	r := &registry{}
	s := indexservertest.Start(t, r.use)
	ctx := indexserver.WithIdentity(t.Context(), indexserver.Identity{Name: "router"})
	const tenants = 3000
	for i := range tenants {
		if _, err := s.Server.LookupRoute(ctx, &pb.LookupRouteRequest{TenantId: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.decided.Load(); got != tenants {
		t.Errorf("%d decisions for %d tenants", got, tenants)
	}
}

// TestOneTokenIsOneQuestion makes many calls with a token that is being asked about.
func TestOneTokenIsOneQuestion(t *testing.T) {
	release := make(chan struct{})
	slow := &slowAuthenticator{release: release}
	s := indexservertest.Start(t, func(c *indexserver.Config) { c.Authenticator = slow })
	client := s.Client(t)
	const calls = 50
	failures := make(chan error, calls)
	ask := func() {
		_, err := client.LookupRoute(t.Context(), &pb.LookupRouteRequest{TenantId: "team"})
		failures <- err
	}
	// A call that is given up does not take the question with it.
	impatient, cancel := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = client.LookupRoute(impatient, &pb.LookupRouteRequest{TenantId: "team"})
	}()
	indexservertest.Await(t, "the question", func() bool { return slow.asked.Load() == 1 })
	for range calls {
		go ask()
	}
	cancel()
	<-gone
	close(release)
	for range calls {
		if err := <-failures; err != nil {
			t.Error(err)
		}
	}
	if got := slow.asked.Load(); got != 1 {
		t.Errorf("%d questions about one token", got)
	}
}

// slowAuthenticator takes every token, once it is released.
type slowAuthenticator struct {
	asked   atomic.Int64
	release <-chan struct{}
}

func (a *slowAuthenticator) Authenticate(ctx context.Context, _ string) (indexserver.Identity, error) {
	a.asked.Add(1)
	select {
	case <-a.release:
		return indexserver.Identity{Name: "router"}, nil
	case <-ctx.Done():
		return indexserver.Identity{}, ctx.Err()
	}
}

// TestWrongTokensAreAskedAboutSoOften sends wrong tokens from one address.
func TestWrongTokensAreAskedAboutSoOften(t *testing.T) {
	r := &registry{}
	r.closed.Store(true)
	s := indexservertest.Start(t, r.use)
	ask := func(token string) error {
		ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+token)
		_, err := pb.NewInferenceCacheClient(s.DialWith(t)).LookupRoute(ctx, &pb.LookupRouteRequest{TenantId: "team"})
		return err
	}
	const burst = 64
	for i := range burst + 10 {
		if err := ask(fmt.Sprint("guess", i)); status.Code(err) != codes.Unauthenticated {
			t.Fatal(err)
		}
	}
	if got := r.asked.Load(); got != burst {
		t.Errorf("%d questions about %d wrong tokens, want %d", got, burst+10, burst)
	}
	r.closed.Store(false)
	const want = "too many wrong tokens came from this address; it is asked again in a moment"
	if err := ask("right"); status.Convert(err).Message() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	s.Clock.Step(time.Second)
	if err := ask("right"); err != nil {
		t.Errorf("a moment later: %v", err)
	}
}
