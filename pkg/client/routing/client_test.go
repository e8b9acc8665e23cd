/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// aQuery is a lookup that any index can answer.
func aQuery() Query {
	return Query{Tenant: "team", Model: "llama", Chain: []uint64{1, 2, 3}}
}

// mustMatch looks up, and returns who answered.
func mustMatch(t *testing.T, client *Client) string {
	t.Helper()
	answer := client.Lookup(t.Context(), aQuery())
	if best, ok := answer.Best(); !ok || best.MatchedTokens != 32 || answer.Err != nil {
		t.Fatalf("answer %+v", answer)
	}
	return answer.ObservedBy
}

// TestLookupBeforeAnyHealthCheck holds that a new client can be asked at once.
func TestLookupBeforeAnyHealthCheck(t *testing.T) {
	index := startIndex(t, newAuthority(t), "a")
	options := testOptions(t, index.ca)
	options.Servers, options.HealthInterval = []string{index.address}, time.Hour
	mustMatch(t, startClient(t, options))
}

// TestKilledReplica holds that a replica that goes away costs no answer, and is
// used again when it is back.
func TestKilledReplica(t *testing.T) {
	ca := newAuthority(t)
	a, b := startIndex(t, ca, "a"), startIndex(t, ca, "b")
	client := newTestClient(t, a, b)
	awaitStanding(t, client, a, serving)
	awaitStanding(t, client, b, serving)
	awaitLane(t, client, a)
	a.server.Stop()
	for range 50 {
		if by := mustMatch(t, client); by != "b" {
			t.Fatalf("%s answered, which is gone", by)
		}
	}
	awaitStanding(t, client, a, failing)
	a.start(t)
	await(t, "the restarted replica to be asked", func() bool { return mustMatch(t, client) == "a" })
	b.server.Stop()
	for range 50 {
		mustMatch(t, client)
	}
}

// TestKilledUnderLoad holds that no lookup under way is lost with its replica.
func TestKilledUnderLoad(t *testing.T) {
	ca := newAuthority(t)
	a, b := startIndex(t, ca, "a"), startIndex(t, ca, "b")
	client := newTestClient(t, a, b)
	awaitLane(t, client, a)
	awaitLane(t, client, b)
	together(8, func(i int) {
		for round := range 100 {
			if i == 0 && round == 50 {
				a.server.Stop()
			}
			if answer := client.Lookup(t.Context(), aQuery()); answer.Err != nil || answer.Reason != PrefixMatch {
				t.Errorf("answer %+v", answer)
				return
			}
		}
	})
}

// TestIncompleteReplica holds that replicas that miss engines are asked last.
func TestIncompleteReplica(t *testing.T) {
	cases := map[string]struct {
		// healthA and completeA are what the first replica says of itself.
		healthA, completeA bool
	}{
		"it says so in its health and in answers": {false, false},
		"it says so in its health":                {false, true},
		"it says so in answers":                   {true, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ca := newAuthority(t)
			a, b := startIndex(t, ca, "a"), startIndex(t, ca, "b")
			a.serving(tc.healthA)
			if !tc.completeA {
				a.answers(a.partly)
			}
			client := newTestClient(t, a, b)
			awaitStanding(t, client, b, serving)
			if !tc.healthA {
				awaitStanding(t, client, a, incomplete)
			}
			for range 50 {
				// Whoever was asked first, the answer is that of the complete one.
				if by := mustMatch(t, client); by != "b" {
					t.Fatalf("the incomplete replica %s answered", by)
				}
			}
		})
	}
}

// TestAllIncomplete holds that an incomplete answer is better than none, and that
// it is not asked for twice.
func TestAllIncomplete(t *testing.T) {
	ca := newAuthority(t)
	a, b := startIndex(t, ca, "a"), startIndex(t, ca, "b")
	for _, index := range []*fakeIndex{a, b} {
		index.serving(false)
		index.answers(index.partly)
	}
	client := newTestClient(t, a, b)
	awaitStanding(t, client, a, incomplete)
	awaitStanding(t, client, b, incomplete)
	const lookups = 20
	for range lookups {
		answer := client.Lookup(t.Context(), aQuery())
		if answer.Reason != PrefixMatch || answer.Complete || answer.Err != nil {
			t.Fatalf("answer %+v", answer)
		}
	}
	if asked := a.asked() + b.asked(); asked != lookups {
		t.Errorf("%d lookups were asked %d times", lookups, asked)
	}
	b.serving(true)
	b.answers(b.match)
	await(t, "the replica that is complete again", func() bool { return mustMatch(t, client) == "b" })
}

// TestIncompleteAndSilent holds that an incomplete answer is given when the replica
// that may know more does not answer.
func TestIncompleteAndSilent(t *testing.T) {
	ca := newAuthority(t)
	a, b := startIndex(t, ca, "a"), startIndex(t, ca, "b")
	a.answers(a.partly)
	b.answers(silent)
	options := testOptions(t, ca)
	options.Servers, options.Timeout = []string{a.address, b.address}, 100*time.Millisecond
	client := startClient(t, options)
	for range 5 {
		if answer := client.Lookup(t.Context(), aQuery()); answer.Err == nil && (answer.ObservedBy != "a" || answer.Complete) {
			t.Errorf("answer %+v", answer)
		}
	}
	await(t, "the incomplete answer", func() bool { return client.Lookup(t.Context(), aQuery()).ObservedBy == "a" })
}

// TestSlowReplica holds that a silent replica delays a lookup and does not spoil
// it, and is not asked again before it has been heard.
func TestSlowReplica(t *testing.T) {
	ca := newAuthority(t)
	a, b := startIndex(t, ca, "a"), startIndex(t, ca, "b")
	a.answers(silent)
	options := testOptions(t, ca)
	options.Servers, options.Timeout, options.HealthInterval = []string{a.address, b.address}, 4*time.Second, time.Hour
	client := startClient(t, options)
	awaitStanding(t, client, a, serving)
	awaitStanding(t, client, b, serving)
	for range 40 {
		if by := mustMatch(t, client); by != "b" {
			t.Fatalf("%s answered", by)
		}
	}
	if a.asked() != 1 {
		t.Errorf("the silent replica was asked %d times", a.asked())
	}
	if p := peerOf(client, a); standing(p.standing.Load()) != failing {
		t.Errorf("the silent replica is %v", standing(p.standing.Load()))
	}
}

// TestDeadlines holds that time runs out with an answer that says so.
func TestDeadlines(t *testing.T) {
	index := startIndex(t, newAuthority(t), "a")
	index.answers(silent)
	options := testOptions(t, index.ca)
	options.Servers = []string{index.address}
	patient := startClient(t, options)
	options.Timeout = 20 * time.Millisecond
	hasty := startClient(t, options)
	short, cancelShort := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancelShort()
	gone, leave := context.WithCancel(t.Context())
	leave()
	cases := map[string]struct {
		client *Client
		ctx    context.Context
		query  Query
		reason Reason
		err    error
	}{
		"of the options":         {hasty, t.Context(), aQuery(), Timeout, context.DeadlineExceeded},
		"of the context":         {patient, short, aQuery(), Timeout, context.DeadlineExceeded},
		"the caller has left":    {patient, gone, aQuery(), NoHint, context.Canceled},
		"with text":              {hasty, t.Context(), Query{Text: "hi"}, Timeout, context.DeadlineExceeded},
		"with a prompt too long": {patient, t.Context(), Query{TokenIDs: make([]uint32, MaxTokens+1)}, NoHint, nil},
		"without a prompt":       {patient, t.Context(), Query{}, NoHint, errNoPrompt},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			answer := tc.client.Lookup(tc.ctx, tc.query)
			if _, hint := answer.Best(); hint || answer.Reason != tc.reason || answer.Err == nil || answer.ObservedBy != "" {
				t.Errorf("answer %+v", answer)
			}
			if tc.err != nil && !errors.Is(answer.Err, tc.err) {
				t.Errorf("error %v, want %v", answer.Err, tc.err)
			}
		})
	}
}

// TestRefusals holds that what every replica would say is asked of one.
func TestRefusals(t *testing.T) {
	cases := map[string]struct {
		code  codes.Code
		asked int64
	}{
		"not allowed": {codes.PermissionDenied, 1},
		"malformed":   {codes.InvalidArgument, 1},
		"not known":   {codes.Unauthenticated, 2},
		"overloaded":  {codes.ResourceExhausted, 2},
		"a bug":       {codes.Internal, 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ca := newAuthority(t)
			a, b := startIndex(t, ca, "a"), startIndex(t, ca, "b")
			for _, index := range []*fakeIndex{a, b} {
				index.streams.Store(false)
				index.answers(func(context.Context, *pb.LookupRouteRequest) (*pb.LookupRouteResponse, error) {
					return nil, status.Error(tc.code, "because")
				})
			}
			client := newTestClient(t, a, b)
			awaitStanding(t, client, a, serving)
			awaitStanding(t, client, b, serving)
			answer := client.Lookup(t.Context(), aQuery())
			if answer.Reason != NoHint || status.Code(answer.Err) != tc.code || !strings.Contains(answer.Err.Error(), "because") {
				t.Errorf("answer %+v", answer)
			}
			if asked := a.asked() + b.asked(); asked != tc.asked {
				t.Errorf("%d replicas were asked, want %d", asked, tc.asked)
			}
		})
	}
}

// TestWrongAuthority holds that an index that cannot be verified is not asked, and
// that a new file is seen without a restart.
func TestWrongAuthority(t *testing.T) {
	index := startIndex(t, newAuthority(t), "a")
	options := testOptions(t, newAuthority(t))
	options.Servers = []string{index.address}
	client := startClient(t, options)
	answer := client.Lookup(t.Context(), aQuery())
	if answer.Reason != NoHint || answer.Err == nil || !strings.Contains(answer.Err.Error(), "certificate") {
		t.Errorf("answer %+v", answer)
	}
	if index.asked() != 0 {
		t.Error("the lookup was sent to an index that could not be verified")
	}
	right, err := os.ReadFile(index.ca.file)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, options.CAFile, right)
	await(t, "the new authority", func() bool { return client.Lookup(t.Context(), aQuery()).Err == nil })
}

// TestWrongToken holds that an index that refuses the token leads to no hint.
func TestWrongToken(t *testing.T) {
	index := startIndex(t, newAuthority(t), "a")
	options := testOptions(t, index.ca)
	options.Servers = []string{index.address}
	writeFile(t, options.TokenFile, []byte("wrong"))
	client := startClient(t, options)
	if answer := client.Lookup(t.Context(), aQuery()); answer.Reason != NoHint || status.Code(answer.Err) != codes.Unauthenticated {
		t.Errorf("answer %+v", answer)
	}
}

// names resolves one host; nil fails.
type names struct{ addresses atomic.Pointer[[]string] }

func (n *names) set(addresses ...string) { n.addresses.Store(&addresses) }

// LookupNetIP implements Resolver.
func (n *names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	addresses := n.addresses.Load()
	if addresses == nil || host != "index.test" {
		return nil, fmt.Errorf("no such host %s", host)
	}
	var found []netip.Addr
	for _, address := range *addresses {
		found = append(found, netip.MustParseAddr(address))
	}
	return found, nil
}

// TestNames follows replicas that come and go under one name.
func TestNames(t *testing.T) {
	ca := newAuthority(t)
	a := startIndex(t, ca, "a")
	_, port, err := net.SplitHostPort(a.address)
	if err != nil {
		t.Fatal(err)
	}
	b := &fakeIndex{name: "b", ca: ca, address: net.JoinHostPort("127.0.0.2", port)}
	b.answers(b.match)
	b.start(t)
	t.Cleanup(func() { b.server.Stop() })

	resolver := &names{}
	options := testOptions(t, ca)
	options.Servers, options.Resolver = []string{net.JoinHostPort("index.test", port)}, resolver
	client := startClient(t, options)
	answer := client.Lookup(t.Context(), aQuery())
	if answer.Reason != NoHint || answer.Err == nil || !strings.Contains(answer.Err.Error(), "no such host index.test") {
		t.Errorf("answer %+v", answer)
	}
	resolver.set("127.0.0.1", "::1", "::ffff:127.0.0.1")
	await(t, "the first replica", func() bool { return client.Lookup(t.Context(), aQuery()).ObservedBy == "a" })
	if known := len(*client.members.current.Load()); known != 1 {
		t.Errorf("%d replicas are known", known)
	}
	resolver.set("127.0.0.1", "127.0.0.2")
	await(t, "the second replica", func() bool { return mustMatch(t, client) == "b" })
	resolver.set("127.0.0.2")
	await(t, "the first replica to leave", func() bool { return peerOf(client, a) == nil })
	for range 20 {
		if by := mustMatch(t, client); by != "b" {
			t.Fatalf("%s answered, which has left", by)
		}
	}
	resolver.addresses.Store(nil)
	await(t, "a lookup that fails", func() bool { failure := client.members.failure.Load(); return failure != nil && *failure != nil })
	if by := mustMatch(t, client); by != "b" {
		t.Errorf("%s answered", by)
	}
}

// TestClose holds that a closed client gives no hints, whatever it was doing.
func TestClose(t *testing.T) {
	index := startIndex(t, newAuthority(t), "a")
	asked := make(chan struct{}, 1)
	index.answers(func(ctx context.Context, request *pb.LookupRouteRequest) (*pb.LookupRouteResponse, error) {
		asked <- struct{}{}
		return silent(ctx, request)
	})
	client := newTestClient(t, index)
	underway := make(chan Answer)
	go func() { underway <- client.Lookup(context.WithoutCancel(t.Context()), aQuery()) }()
	<-asked
	together(2, func(int) { client.Close() })
	for _, answer := range []Answer{<-underway, client.Lookup(t.Context(), aQuery()), client.LookupBatch(t.Context(), []Query{aQuery()})[0]} {
		if answer.Reason != NoHint || !errors.Is(answer.Err, ErrClosed) {
			t.Errorf("answer %+v", answer)
		}
	}
}
