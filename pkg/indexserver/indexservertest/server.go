/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexservertest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	clocktesting "k8s.io/utils/clock/testing"

	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/indexserver"
	"inferencecache.io/inference-cache/pkg/routing"
)

// Name is what the server calls itself in observed_by.
const Name = "index-0"

// Instance is a running index server. It stops when its test ends.
type Instance struct {
	// Address is the host and port of the listener.
	Address string
	// CAFile holds the certificate that clients trust.
	CAFile string
	// Token is the only one that is taken.
	Token string
	// TokenFile holds it.
	TokenFile string
	// Index is what the server serves; its lease is that of index.Options.
	Index *index.Index
	// Clock is the time of index and server. It stands still until it is stepped.
	Clock *clocktesting.FakeClock
	// Metrics has what the server registered.
	Metrics *prometheus.Registry
	// Server is the server itself.
	Server *indexserver.Server
	// Listening is the address as the listener has it.
	Listening net.Addr
	// Stop ends the server and waits for that; the test's end does so as well.
	Stop func()

	trust *x509.CertPool
}

// Option changes how a server is started.
type Option func(*indexserver.Config)

// WithAuthorizer replaces indexserver.AllowAll.
func WithAuthorizer(a indexserver.Authorizer) Option {
	return func(c *indexserver.Config) { c.Authorizer = a }
}

// WithPolicies sets what the tenants' namespaces want of lookups.
func WithPolicies(p routing.Policies) Option {
	return func(c *indexserver.Config) { c.Policies = p }
}

// WithTokenizer reads prompts that come as text.
func WithTokenizer(t routing.Tokenizer) Option {
	return func(c *indexserver.Config) { c.Tokenizer = t }
}

// WithLimits sets the server's limits.
func WithLimits(l indexserver.Limits) Option {
	return func(c *indexserver.Config) { c.Limits = l }
}

// WithIndex replaces the index.
func WithIndex(x *index.Index) Option {
	return func(c *indexserver.Config) { c.Index = x }
}

// WithTLS changes how the server shows itself. Clients trust the certificate that it
// comes with.
func WithTLS(change func(*tls.Config)) Option {
	return func(c *indexserver.Config) { change(c.TLS) }
}

// Start runs an index server on a free loopback port, with TLS, one token, an
// empty index that needs no warming up, and a clock that the test steps.
func Start(t testing.TB, options ...Option) *Instance {
	t.Helper()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := &Instance{
		Token: "correct-horse", Clock: clocktesting.NewFakeClock(at), Metrics: prometheus.NewRegistry(),
		Index: index.New(index.Options{WarmUp: -1, HiddenTenant: indexserver.ReservedTenant}, at),
	}
	certificate, authority := selfSigned(t)
	s.trust = x509.NewCertPool()
	s.trust.AppendCertsFromPEM(authority)
	s.CAFile = writeFile(t, "ca.crt", authority)
	s.TokenFile = writeFile(t, "token", []byte(s.Token))
	config := indexserver.Config{
		Index: s.Index, Name: Name, Clock: s.Clock, Registerer: s.Metrics,
		Authenticator: indexserver.SingleToken(s.Token, indexserver.Identity{Name: "test"}),
		Authorizer:    indexserver.AllowAll{},
		TLS:           &tls.Config{Certificates: []tls.Certificate{certificate}},
	}
	for _, option := range options {
		option(&config)
	}
	server, err := indexserver.New(config)
	if err != nil {
		t.Fatal(err)
	}
	s.Server, s.Index = server, config.Index
	s.serve(t)
	return s
}

// serve starts the server and arranges for its end.
func (s *Instance) serve(t testing.TB) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Listening, s.Address = listener.Addr(), listener.Addr().String()
	// Not the test's context, which ends before its cleanups run: calls of the
	// test should find the server until then.
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.Server.Serve(ctx, listener); err != nil {
			t.Errorf("serve: %v", err)
		}
	}()
	s.Stop = func() {
		cancel()
		<-done
	}
	t.Cleanup(s.Stop)
}

// Dial returns a connection that sends the right token with every call.
func (s *Instance) Dial(t testing.TB) *grpc.ClientConn {
	t.Helper()
	return s.DialWith(t, grpc.WithPerRPCCredentials(bearer(s.Token)))
}

// DialWith returns a connection with TLS and no token but what options send.
func (s *Instance) DialWith(t testing.TB, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	options = append(options, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: s.trust, MinVersion: tls.VersionTLS12})))
	conn, err := grpc.NewClient(s.Address, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// WithToken sends a token with every call of a connection.
func (*Instance) WithToken(token string) grpc.DialOption {
	return grpc.WithPerRPCCredentials(bearer(token))
}

// Connect opens a TLS connection as a client of HTTP/2 does, and nothing more. Reading
// from it gives up after a while.
func (s *Instance) Connect(t testing.TB) net.Conn {
	t.Helper()
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: s.trust, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2"}}}
	conn, err := dialer.DialContext(t.Context(), "tcp", s.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetReadDeadline(time.Now().Add(Patience)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// HTTP2 returns what speaks plain HTTP/2 to the server.
func (s *Instance) HTTP2(t testing.TB) *http.Transport {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.trust, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// Client returns a client that sends the right token with every call.
func (s *Instance) Client(t testing.TB) pb.InferenceCacheClient {
	t.Helper()
	return pb.NewInferenceCacheClient(s.Dial(t))
}

// bearer sends a token with every call.
type bearer string

// GetRequestMetadata returns the token as metadata.
func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(b)}, nil
}

// RequireTransportSecurity keeps the token off plain connections.
func (bearer) RequireTransportSecurity() bool { return true }

func writeFile(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
