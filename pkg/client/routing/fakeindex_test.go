/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

const (
	// patience ends what would otherwise wait for ever.
	patience = 20 * time.Second
	// goodToken is the one that fake indexes take.
	goodToken = "correct-horse"
)

// authority issues one certificate for every fake index of a test.
type authority struct {
	certificate tls.Certificate
	file        string
}

// newAuthority makes a certificate that is its own authority, and keeps it in a
// file. It is good for addresses of the loopback and for index.test.
func newAuthority(t testing.TB) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "index of a test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true, IsCA: true,
		DNSNames: []string{"index.test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(127, 0, 0, 2)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.crt")
	writeFile(t, file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return &authority{certificate: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file: file}
}

// fakeIndex is one replica of an index, on a real socket with TLS and a token.
type fakeIndex struct {
	pb.UnimplementedInferenceCacheServer

	name, address string
	ca            *authority
	health        *health.Server
	// answer answers a lookup; ctx ends with the call or with the server.
	answer atomic.Pointer[answerFunc]
	// streams is false for an index that does not know LookupRouteStream.
	streams atomic.Bool
	// serve, when it is set, is what LookupRouteStream does instead of answering.
	serve atomic.Pointer[func(lookupStream) error]
	// calls and streamed count lookups by how they came.
	calls, streamed, batches atomic.Int64

	server *grpc.Server
}

// lookupStream is a stream of lookups as an index sees it.
type lookupStream = grpc.BidiStreamingServer[pb.LookupRouteRequest, pb.LookupRouteResponse]

type answerFunc func(ctx context.Context, request *pb.LookupRouteRequest) (*pb.LookupRouteResponse, error)

// startIndex runs an index that serves, knows all engines and answers each lookup
// with a match that repeats the lookup's adapter.
func startIndex(t testing.TB, ca *authority, name string) *fakeIndex {
	t.Helper()
	f := &fakeIndex{name: name, address: "127.0.0.1:0", ca: ca}
	f.streams.Store(true)
	f.answers(f.match)
	f.start(t)
	t.Cleanup(func() { f.server.Stop() })
	return f
}

// start listens on the address that the index had, or on a free one.
func (f *fakeIndex) start(t testing.TB) {
	t.Helper()
	listener, err := net.Listen("tcp", f.address)
	if err != nil {
		t.Fatal(err)
	}
	f.address = listener.Addr().String()
	f.health = health.NewServer()
	f.server = grpc.NewServer(
		grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{f.ca.certificate}, MinVersion: tls.VersionTLS12})),
		grpc.UnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
			if !authenticated(ctx) {
				return nil, status.Error(codes.Unauthenticated, "no such token")
			}
			return handler(ctx, req)
		}),
		grpc.StreamInterceptor(func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
			if !authenticated(stream.Context()) {
				return status.Error(codes.Unauthenticated, "no such token")
			}
			return handler(srv, stream)
		}),
		grpc.MaxRecvMsgSize(12<<20), grpc.WaitForHandlers(true),
	)
	pb.RegisterInferenceCacheServer(f.server, f)
	grpc_health_v1.RegisterHealthServer(f.server, f.health)
	f.serving(true)
	go func() { _ = f.server.Serve(listener) }() // it ends with Stop
}

// authenticated tells whether a call has the right token.
func authenticated(ctx context.Context) bool {
	held, _ := metadata.FromIncomingContext(ctx)
	tokens := held.Get("authorization")
	return len(tokens) == 1 && tokens[0] == "Bearer "+goodToken
}

// answers replaces how lookups are answered.
func (f *fakeIndex) answers(answer answerFunc) { f.answer.Store(&answer) }

// serving sets the health.
func (f *fakeIndex) serving(yes bool) {
	state := grpc_health_v1.HealthCheckResponse_NOT_SERVING
	if yes {
		state = grpc_health_v1.HealthCheckResponse_SERVING
	}
	f.health.SetServingStatus(pb.InferenceCache_ServiceDesc.ServiceName, state)
}

// asked is the number of lookups that have come.
func (f *fakeIndex) asked() int64 { return f.calls.Load() + f.streamed.Load() }

// match answers with one replica, and repeats the adapter of the question.
func (f *fakeIndex) match(_ context.Context, request *pb.LookupRouteRequest) (*pb.LookupRouteResponse, error) {
	return &pb.LookupRouteResponse{
		ReasonCode: "PREFIX_MATCH", ObservedBy: f.name, Complete: true, AdapterId: request.GetAdapterId(),
		ReplicaScores: []*pb.ReplicaScore{{ReplicaId: "engine-" + request.GetAdapterId(), MatchedTokens: 32}},
	}, nil
}

// partly answers as match does, but misses engines.
func (f *fakeIndex) partly(ctx context.Context, request *pb.LookupRouteRequest) (*pb.LookupRouteResponse, error) {
	response, err := f.match(ctx, request)
	response.Complete = false
	return response, err
}

// silent answers never.
func silent(ctx context.Context, _ *pb.LookupRouteRequest) (*pb.LookupRouteResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// LookupRoute implements pb.InferenceCacheServer.
func (f *fakeIndex) LookupRoute(ctx context.Context, request *pb.LookupRouteRequest) (*pb.LookupRouteResponse, error) {
	f.calls.Add(1)
	return (*f.answer.Load())(ctx, request)
}

// LookupRoutes implements pb.InferenceCacheServer.
func (f *fakeIndex) LookupRoutes(ctx context.Context, request *pb.LookupRoutesRequest) (*pb.LookupRoutesResponse, error) {
	f.batches.Add(1)
	out := &pb.LookupRoutesResponse{}
	for _, one := range request.GetRequests() {
		response, err := (*f.answer.Load())(ctx, one)
		if err != nil {
			return nil, err
		}
		out.Responses = append(out.Responses, response)
	}
	return out, nil
}

// LookupRouteStream implements pb.InferenceCacheServer.
func (f *fakeIndex) LookupRouteStream(stream lookupStream) error {
	if !f.streams.Load() {
		return status.Error(codes.Unimplemented, "no streams here")
	}
	if serve := f.serve.Load(); serve != nil {
		return (*serve)(stream)
	}
	for {
		request, err := stream.Recv()
		if err != nil {
			return nil
		}
		f.streamed.Add(1)
		response, err := (*f.answer.Load())(stream.Context(), request)
		if err != nil {
			return err
		}
		if err := stream.Send(response); err != nil {
			return err
		}
	}
}

// newTestClient returns a client of some indexes, with much time for lookups and
// little between health checks.
func newTestClient(t testing.TB, indexes ...*fakeIndex) *Client {
	t.Helper()
	options := testOptions(t, indexes[0].ca)
	for _, index := range indexes {
		options.Servers = append(options.Servers, index.address)
	}
	return startClient(t, options)
}

// testOptions are options without a server.
func testOptions(t testing.TB, ca *authority) Options {
	t.Helper()
	token := filepath.Join(t.TempDir(), "token")
	writeFile(t, token, []byte(goodToken+"\n"))
	return Options{
		CAFile: ca.file, TokenFile: token, Timeout: patience, HealthInterval: 20 * time.Millisecond, ResolveInterval: 20 * time.Millisecond,
	}
}

// startClient returns a client that is closed at the test's end.
func startClient(t testing.TB, options Options) *Client {
	t.Helper()
	client, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// await polls until a condition holds, and fails the test when it does not in time.
func await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	poll := time.NewTicker(2 * time.Millisecond)
	defer poll.Stop()
	for !holds() {
		select {
		case <-deadline.C:
			t.Fatalf("waited in vain for %s", what)
		case <-poll.C:
		}
	}
}

// awaitStanding waits until the client thinks so of an index.
func awaitStanding(t testing.TB, client *Client, of *fakeIndex, want standing) {
	t.Helper()
	await(t, of.name+" to be "+want.String(), func() bool {
		p := peerOf(client, of)
		return p != nil && standing(p.standing.Load()) == want
	})
}

// awaitLane waits until lookups can share a stream to an index.
func awaitLane(t testing.TB, client *Client, of *fakeIndex) *lane {
	t.Helper()
	var found *lane
	await(t, "a stream to "+of.name, func() bool {
		if p := peerOf(client, of); p != nil {
			found = p.lane.Load()
		}
		return found != nil && !found.over()
	})
	return found
}

// peerOf returns what the client has for an index, nil when it has nothing.
func peerOf(client *Client, of *fakeIndex) *peer {
	for _, p := range *client.members.current.Load() {
		if p.address == of.address {
			return p
		}
	}
	return nil
}

// together runs something so many times at once and waits for all.
func together(n int, do func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { do(i) })
	}
	all.Wait()
}

func writeFile(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
