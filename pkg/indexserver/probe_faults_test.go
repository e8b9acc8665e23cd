/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/indexserver"
	"inferencecache.io/inference-cache/pkg/indexserver/indexservertest"
)

// listen returns a listener that takes connections and says nothing.
func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}

// certificate makes one that is good from a time to another.
func certificate(t *testing.T, from, to time.Time) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: to}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func TestProbeFaults(t *testing.T) {
	ended := func(t *testing.T) context.Context {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		return ctx
	}
	type stage = indexserver.ProbeOutcome
	const ok, failed, skipped, unknown = indexserver.ProbeOK, indexserver.ProbeFailed, indexserver.ProbeSkipped, indexserver.ProbeUnknown
	quick := indexservertest.WithLimits(indexserver.Limits{ProbeTimeout: 50 * time.Millisecond, ReportStreams: 1})
	tests := map[string]struct {
		options []indexservertest.Option
		// prepare breaks what the test breaks and returns where to probe.
		prepare         func(t *testing.T, s *indexservertest.Instance) net.Addr
		ctx             func(t *testing.T) context.Context
		ingest, routing stage
		message         string
	}{
		"nobody listens": {
			prepare: func(t *testing.T, _ *indexservertest.Instance) net.Addr {
				listener := listen(t)
				_ = listener.Close()
				return listener.Addr()
			},
			ingest: failed, routing: skipped, message: "connection refused",
		},
		"nobody answers": {
			options: []indexservertest.Option{quick},
			prepare: func(t *testing.T, _ *indexservertest.Instance) net.Addr { return listen(t).Addr() },
			ingest:  failed, routing: skipped, message: "no answer within 50ms",
		},
		"somebody else answers": {
			prepare: func(t *testing.T, _ *indexservertest.Instance) net.Addr { return indexservertest.Start(t).Listening },
			ingest:  failed, routing: skipped, message: "the port shows a certificate that is not this server's",
		},
		"the certificate is over": {
			options: []indexservertest.Option{indexservertest.WithTLS(func(c *tls.Config) {
				c.Certificates = []tls.Certificate{certificate(t, time.Unix(0, 0), time.Unix(86400, 0))}
			})},
			ingest: failed, routing: skipped, message: "valid from 1970-01-01T00:00:00Z to 1970-01-02T00:00:00Z only",
		},
		"there is no certificate": {
			options: []indexservertest.Option{indexservertest.WithTLS(func(c *tls.Config) {
				c.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, errors.New("damaged") }
			})},
			ingest: failed, routing: skipped, message: "read the serving certificate: damaged",
		},
		"no room for another session": {
			options: []indexservertest.Option{indexservertest.WithLimits(indexserver.Limits{ReportStreams: 1})},
			prepare: func(t *testing.T, s *indexservertest.Instance) net.Addr {
				seed(t, s, 11)
				return s.Listening
			},
			ingest: failed, routing: skipped, message: "1 report streams are open already",
		},
		"no memory for a block": {
			options: []indexservertest.Option{indexservertest.WithIndex(index.New(
				index.Options{WarmUp: -1, HiddenTenant: indexserver.ReservedTenant, Memory: 1}, time.Unix(0, 0)))},
			ingest: ok, routing: failed, message: "its memory is full",
		},
		"whoever asked has gone": {
			ctx:    ended,
			ingest: unknown, routing: skipped, message: "the probe was cut off",
		},
		"the server has stopped": {
			prepare: func(_ *testing.T, s *indexservertest.Instance) net.Addr {
				s.Stop()
				return s.Listening
			},
			ingest: unknown, routing: skipped, message: "the server is stopping",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := indexservertest.Start(t, test.options...)
			address, ctx := s.Listening, t.Context()
			if test.prepare != nil {
				address = test.prepare(t, s)
			}
			if test.ctx != nil {
				ctx = test.ctx(t)
			}
			p, err := s.Server.Prober(address)
			if err != nil {
				t.Fatal(err)
			}
			report, err := p.Probe(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if report.Ingest.Outcome != test.ingest || report.Routing.Outcome != test.routing {
				t.Errorf("got %+v, want outcomes %d and %d", report, test.ingest, test.routing)
			}
			message := report.Ingest.Message
			if test.ingest == ok {
				message = report.Routing.Message
			}
			if !strings.Contains(message, test.message) || strings.Contains(message, "\n") {
				t.Errorf("message %q, want one line with %q", message, test.message)
			}
		})
	}
}

// TestProbeOfAFullIndex fills an index to its memory: what is new is still taken, as it
// is from engines.
func TestProbeOfAFullIndex(t *testing.T) {
	x := index.New(index.Options{WarmUp: -1, HiddenTenant: indexserver.ReservedTenant, Memory: 1 << 20}, time.Unix(0, 0))
	s := indexservertest.Start(t, indexservertest.WithIndex(x))
	stream := seed(t, s, 1)
	for sequence := uint64(2); onlyHolder(t, s).Forgotten == 0; sequence++ {
		chain := make([]uint64, 64)
		for i := range chain {
			chain[i] = sequence<<32 + uint64(i)
		}
		stream.Delta(sequence, indexservertest.Store(chain...))
		stream.Acked(sequence)
	}
	held := onlyHolder(t, s).Prefixes
	for range 10 {
		if report := probe(t, s); report.Ingest.Outcome != indexserver.ProbeOK || report.Routing.Outcome != indexserver.ProbeOK {
			t.Fatalf("got %+v", report)
		}
	}
	if now := onlyHolder(t, s).Prefixes; now < held*9/10 {
		t.Errorf("of %d blocks that the engine reported %d are left", held, now)
	}
}

// TestProbesWhileCertificatesAreReplaced shows another certificate in every handshake.
func TestProbesWhileCertificatesAreReplaced(t *testing.T) {
	now := time.Now()
	certificates := []tls.Certificate{
		certificate(t, now.Add(-time.Hour), now.Add(time.Hour)),
		certificate(t, now.Add(-time.Hour), now.Add(time.Hour)),
	}
	var current atomic.Int64
	s := indexservertest.Start(t, indexservertest.WithTLS(func(c *tls.Config) {
		c.Certificates = nil
		c.GetCertificate = func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			if hello.Conn != nil { // a handshake: it is replaced before the next one
				return &certificates[current.Add(1)%2], nil
			}
			return &certificates[current.Load()%2], nil
		}
	}))
	p := prober(t, s)
	for range 20 {
		report, err := p.Probe(t.Context())
		if err != nil || report != (indexserver.ProbeReport{}) {
			t.Fatalf("got %+v, error %v", report, err)
		}
	}
}

func TestTooManyProbes(t *testing.T) {
	const most = 2
	s := indexservertest.Start(t, indexservertest.WithLimits(indexserver.Limits{Probes: most}))
	listener := listen(t)
	p, err := s.Server.Prober(listener.Addr())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, most)
	for range most {
		go func() {
			_, err := p.Probe(ctx)
			ended <- err
		}()
		if _, err := listener.Accept(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Probe(t.Context()); !errors.Is(err, indexserver.ErrTooManyProbes) {
		t.Errorf("got error %v, want %v", err, indexserver.ErrTooManyProbes)
	}
	cancel()
	for range most {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if report := probe(t, s); report != (indexserver.ProbeReport{}) {
		t.Errorf("when the others are over: %+v", report)
	}
}
