/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package indexserver

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
	tlscredentials "google.golang.org/grpc/credentials"
)

// dial returns a connection to the server's port, which opens with the first call. It
// goes there and nowhere else: no name is resolved and no proxy asked.
func (p *Prober) dial() (*grpc.ClientConn, error) {
	before, err := p.server.certificate()
	if err != nil {
		return nil, err
	}
	return grpc.NewClient("passthrough:///"+p.address.String(),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			var dialer net.Dialer
			// An unspecified address stands for this host.
			return dialer.DialContext(ctx, p.address.Network(), p.address.String())
		}),
		grpc.WithTransportCredentials(tlscredentials.NewTLS(&tls.Config{
			MinVersion: tls.VersionTLS12,
			// What is expected is known to the byte, and the name is an address that
			// no certificate has to have.
			InsecureSkipVerify: true, //nolint:gosec // VerifyConnection verifies
			VerifyConnection:   func(state tls.ConnectionState) error { return p.server.isOwn(state, before) },
		})),
		grpc.WithPerRPCCredentials(bearer(p.server.probes.token)),
		grpc.WithDisableServiceConfig(),
	)
}

// bearer sends a token with every call of a connection.
type bearer string

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{authorization: "Bearer " + string(b)}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials.
func (bearer) RequireTransportSecurity() bool { return true }

// certificate returns the one that the server shows now.
func (s *Server) certificate() ([]byte, error) {
	var chain *tls.Certificate
	switch c := s.config.TLS; {
	case c.GetCertificate != nil:
		var err error
		if chain, err = c.GetCertificate(&tls.ClientHelloInfo{}); err != nil {
			return nil, fmt.Errorf("read the serving certificate: %w", err)
		}
	case len(c.Certificates) > 0:
		chain = &c.Certificates[0]
	}
	if chain == nil || len(chain.Certificate) == 0 {
		return nil, errors.New("read the serving certificate: there is none")
	}
	return chain.Certificate[0], nil
}

// isOwn refuses a connection to somebody else's server, who would learn the token of
// the probes, and one that no engine would open because the certificate's time is not
// now. A certificate that was replaced during the handshake is the one before it or
// the one after.
func (s *Server) isOwn(state tls.ConnectionState, before []byte) error {
	leaf := state.PeerCertificates[0]
	if !bytes.Equal(leaf.Raw, before) {
		after, err := s.certificate()
		if err != nil {
			return err
		}
		if !bytes.Equal(leaf.Raw, after) {
			return errors.New("the port shows a certificate that is not this server's")
		}
	}
	if now := time.Now(); now.Before(leaf.NotBefore) || now.After(leaf.NotAfter) {
		return fmt.Errorf("the serving certificate is valid from %s to %s only",
			leaf.NotBefore.UTC().Format(time.RFC3339), leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return nil
}
