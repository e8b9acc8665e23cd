/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package routing

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/credentials"
)

// tokenLife is how long a token is used before its file is read again. A token in
// a Pod is replaced long before it expires.
const tokenLife = 10 * time.Second

// fileToken sends the bearer token that a file holds. It is safe for concurrent
// use.
type fileToken struct {
	path string
	last atomic.Pointer[heldToken]
}

// heldToken is a token as calls send it, and when it was read.
type heldToken struct {
	metadata map[string]string
	read     time.Time
}

var _ credentials.PerRPCCredentials = (*fileToken)(nil)

// GetRequestMetadata implements credentials.PerRPCCredentials. The metadata is
// shared by calls, which only read it.
func (f *fileToken) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	held := f.last.Load()
	if held != nil && time.Since(held.read) < tokenLife {
		return held.metadata, nil
	}
	token, err := readToken(f.path)
	if err != nil {
		if held != nil {
			// A file that is just being replaced is no reason to stop.
			return held.metadata, nil
		}
		return nil, err
	}
	held = &heldToken{metadata: map[string]string{"authorization": "Bearer " + token}, read: time.Now()}
	f.last.Store(held)
	return held.metadata, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials.
func (*fileToken) RequireTransportSecurity() bool { return true }

// readToken returns the token in a file.
func readToken(path string) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	token := strings.TrimSpace(string(content))
	if token == "" {
		return "", fmt.Errorf("the token file %s is empty", path)
	}
	return token, nil
}

// rootsFile is TLS that verifies servers against the certificates in a file. The
// file is read for every handshake, because authorities are renewed while a
// router runs.
type rootsFile struct {
	// TransportCredentials does what does not depend on the file.
	credentials.TransportCredentials
	path, serverName string
}

// newRootsFile returns the credentials for one server name.
func newRootsFile(path, serverName string) rootsFile {
	base := credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12, ServerName: serverName})
	return rootsFile{TransportCredentials: base, path: path, serverName: serverName}
}

// ClientHandshake implements credentials.TransportCredentials.
func (r rootsFile) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	config, err := r.config()
	if err != nil {
		return nil, nil, err
	}
	return credentials.NewTLS(config).ClientHandshake(ctx, authority, raw)
}

// Clone implements credentials.TransportCredentials.
func (r rootsFile) Clone() credentials.TransportCredentials {
	return newRootsFile(r.path, r.serverName)
}

// config returns the TLS configuration; without a file it trusts what the system
// trusts.
func (r rootsFile) config() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: r.serverName}
	if r.path == "" {
		return config, nil
	}
	pem, err := os.ReadFile(r.path)
	if err != nil {
		return nil, fmt.Errorf("read the certificate authorities: %w", err)
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		return nil, errors.New("no certificate in " + r.path)
	}
	return config, nil
}
