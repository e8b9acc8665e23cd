/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net/url"
	"sync"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// servingTLS returns the TLS configuration of the gRPC port: the certificate,
// versions and ciphers of the HTTPS port.
func servingTLS(serving *genericapiserver.SecureServingInfo) *tls.Config {
	certificate := &currentCertificate{content: serving.Cert}
	return &tls.Config{
		MinVersion:     max(serving.MinTLSVersion, tls.VersionTLS12),
		CipherSuites:   serving.CipherSuites,
		GetCertificate: certificate.get,
	}
}

// currentCertificate follows a certificate that is replaced while the server
// runs. It parses only what has changed.
type currentCertificate struct {
	content dynamiccertificates.CertKeyContentProvider

	mu        sync.Mutex
	cert, key []byte
	parsed    *tls.Certificate
}

func (c *currentCertificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	cert, key := c.content.CurrentCertKeyContent()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.parsed != nil && bytes.Equal(cert, c.cert) && bytes.Equal(key, c.key) {
		return c.parsed, nil
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("use serving certificate %s: %w", c.content.Name(), err)
	}
	c.cert, c.key, c.parsed = cert, key, &pair
	return c.parsed, nil
}

// grpcPath is what the gRPC port looks like to an authenticator of requests.
func grpcPath() *url.URL {
	return &url.URL{Path: "/grpc"}
}
