/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package report

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"

	"google.golang.org/grpc/credentials"
)

// fileToken sends the bearer token that a file holds. The file is read for every
// stream, because the kubelet replaces a Pod's token while the Pod runs.
type fileToken struct{ path string }

var _ credentials.PerRPCCredentials = fileToken{}

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (f fileToken) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	token, err := readToken(f.path)
	if err != nil {
		return nil, err
	}
	return map[string]string{"authorization": "Bearer " + token}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials.
func (fileToken) RequireTransportSecurity() bool { return true }

// readToken returns the token in a file.
func readToken(path string) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("reading the token: %w", err)
	}
	token := strings.TrimSpace(string(content))
	if token == "" {
		return "", fmt.Errorf("the token file %s is empty", path)
	}
	return token, nil
}

// fileCA verifies servers against the certificates in a file. The file is read
// for every connection, because the authority is renewed while the Pod runs.
type fileCA struct {
	path, serverName string
}

// config returns the TLS configuration; without a file it trusts what the system
// trusts.
func (f fileCA) config() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: f.serverName}
	if f.path == "" {
		return config, nil
	}
	pem, err := os.ReadFile(f.path)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate authority: %w", err)
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		return nil, errors.New("no certificate in " + f.path)
	}
	return config, nil
}
