/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/indexserver"
)

// token is what calls carry.
const token = "correct-horse"

// server serves an index and an echo on one loopback port, to one connection.
type server struct {
	// service is what answers lookups, for calls without a connection.
	service *indexserver.Server
	grpc    *grpc.Server
	conn    *grpc.ClientConn
	echo    *echo
}

// serverOf returns the service of an index, without a port.
func serverOf(x *index.Index) (*indexserver.Server, error) {
	certificate, _, err := selfSigned()
	if err != nil {
		return nil, err
	}
	return indexserver.New(indexserver.Config{
		Index: x, Name: "index-0", Authorizer: indexserver.AllowAll{}, Registerer: prometheus.NewRegistry(),
		Authenticator: indexserver.SingleToken(token, indexserver.Identity{Name: "bench"}),
		TLS:           &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
	})
}

// startServer serves the index and connects to it. The echo passes through the
// same TLS, authentication and limits as lookups do.
func startServer(x *index.Index) (*server, error) {
	service, err := serverOf(x)
	if err != nil {
		return nil, err
	}
	certificate, trust, err := selfSigned()
	if err != nil {
		return nil, err
	}
	// The last credentials count: the ones that the connection trusts.
	options := append(service.Options(), grpc.Creds(credentials.NewServerTLSFromCert(&certificate)))
	s := &server{service: service, grpc: grpc.NewServer(options...), echo: &echo{}}
	service.Register(s.grpc)
	s.echo.register(s.grpc)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	go func() {
		// It ends when the server is stopped; calls tell of anything else.
		_ = s.grpc.Serve(listener)
	}()
	s.conn, err = grpc.NewClient(listener.Addr().String(), grpc.WithPerRPCCredentials(bearer(token)),
		grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: trust, MinVersion: tls.VersionTLS12})))
	if err != nil {
		s.grpc.Stop()
		return nil, fmt.Errorf("connect: %w", err)
	}
	return s, nil
}

func (s *server) stop() {
	_ = s.conn.Close()
	s.grpc.Stop()
}

// bearer sends a token with every call.
type bearer string

// GetRequestMetadata returns the token as metadata.
func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(b)}, nil
}

// RequireTransportSecurity keeps the token off plain connections.
func (bearer) RequireTransportSecurity() bool { return true }

// selfSigned makes a certificate for the loopback address and a pool that trusts it.
func selfSigned() (tls.Certificate, *x509.CertPool, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("make a key: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true, IsCA: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("make a certificate: %w", err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("read a certificate: %w", err)
	}
	trust := x509.NewCertPool()
	trust.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, trust, nil
}
