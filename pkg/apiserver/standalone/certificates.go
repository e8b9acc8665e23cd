/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package standalone

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"inferencecache.io/inference-cache/pkg/certs"
	"inferencecache.io/inference-cache/pkg/storage/durablefile"
)

const (
	// lifetime of the authority and of what it signs. Nothing rotates while the
	// server runs, so it is far beyond any uptime; a start replaces a serving
	// certificate that is in its last third.
	lifetime = 10 * 365 * 24 * time.Hour

	// clockSkew predates certificates, for clients whose clock is behind.
	clockSkew = time.Hour

	pkiDir     = "pki"
	caCertFile = "ca.crt"
	caKeyFile  = "ca.key"
	certFile   = "tls.crt"
	keyFile    = "tls.key"
)

// servedNames are the addresses a loopback-only server can be reached by.
func servedNames() (dns []string, ips []net.IP) {
	return []string{"localhost"}, []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
}

// keyPair is a certificate and its key, parsed and as PEM.
type keyPair struct {
	cert            *x509.Certificate
	key             *ecdsa.PrivateKey
	certPEM, keyPEM []byte
}

// loadOrMakeCertificates returns the directory's authority and a serving
// certificate that is good for a while, making what is missing or outdated.
// A damaged file is an error, not a reason to make a new one: that would
// silently invalidate every kubeconfig that was handed out.
func loadOrMakeCertificates(dir string, now time.Time) (ca, serving *keyPair, err error) {
	pki := filepath.Join(dir, pkiDir)
	if err := os.MkdirAll(pki, 0o700); err != nil {
		return nil, nil, fmt.Errorf("make certificate directory: %w", err)
	}
	ca, err = loadKeyPair(filepath.Join(dir, caCertFile), filepath.Join(pki, caKeyFile))
	if err != nil {
		return nil, nil, err
	}
	if ca == nil || now.After(ca.cert.NotAfter) {
		if ca, err = makeAuthority(now); err != nil {
			return nil, nil, err
		}
		if err := ca.write(filepath.Join(dir, caCertFile), filepath.Join(pki, caKeyFile)); err != nil {
			return nil, nil, err
		}
	}
	certPath, keyPath := filepath.Join(pki, certFile), filepath.Join(pki, keyFile)
	serving, err = loadKeyPair(certPath, keyPath)
	if err != nil {
		return nil, nil, err
	}
	if serving == nil || !serving.goodFor(ca, now) {
		if serving, err = makeServing(ca, now); err != nil {
			return nil, nil, err
		}
		if err := serving.write(certPath, keyPath); err != nil {
			return nil, nil, err
		}
	}
	return ca, serving, nil
}

// loadKeyPair returns nil when there is no pair yet. The certificate is written
// last, so its absence means that the pair was never completed.
func loadKeyPair(certPath, keyPath string) (*keyPair, error) {
	certPEM, err := os.ReadFile(certPath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read certificate: %w", err)
	}
	keyPEM, err := os.ReadFile(keyPath)
	if err != nil {
		return nil, fmt.Errorf("read key of %s: %w", certPath, err)
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, fmt.Errorf("%s and %s do not make a key pair (remove both to make new ones): %w", certPath, keyPath, err)
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s does not hold an ECDSA key", keyPath)
	}
	return &keyPair{cert: pair.Leaf, key: key, certPEM: certPEM, keyPEM: keyPEM}, nil
}

// goodFor reports whether a serving certificate can be used for another run.
func (p *keyPair) goodFor(ca *keyPair, now time.Time) bool {
	if now.After(p.cert.NotAfter.Add(-lifetime/3)) || p.cert.CheckSignatureFrom(ca.cert) != nil {
		return false
	}
	dns, ips := servedNames()
	for _, name := range dns {
		if p.cert.VerifyHostname(name) != nil {
			return false
		}
	}
	for _, ip := range ips {
		if p.cert.VerifyHostname(ip.String()) != nil {
			return false
		}
	}
	return true
}

func (p *keyPair) write(certPath, keyPath string) error {
	if err := durablefile.Write(keyPath, p.keyPEM, 0o600); err != nil {
		return err
	}
	return durablefile.Write(certPath, p.certPEM, 0o600)
}

func makeAuthority(now time.Time) (*keyPair, error) {
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "inference-cache standalone CA"},
		NotBefore:             now.Add(-clockSkew),
		NotAfter:              now.Add(lifetime),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
	}
	return sign(template, nil)
}

func makeServing(ca *keyPair, now time.Time) (*keyPair, error) {
	dns, ips := servedNames()
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: "inference-cache standalone server"},
		NotBefore:   now.Add(-clockSkew),
		NotAfter:    now.Add(lifetime),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    dns,
		IPAddresses: ips,
	}
	return sign(template, ca)
}

// sign makes a pair, signed by ca or, without one, by itself.
func sign(template *x509.Certificate, ca *keyPair) (*keyPair, error) {
	var parent *x509.Certificate
	var signer *ecdsa.PrivateKey
	if ca != nil {
		parent, signer = ca.cert, ca.key
	}
	made, err := certs.Sign(template, parent, signer)
	if err != nil {
		return nil, err
	}
	return &keyPair{cert: made.Certificate, key: made.Key, certPEM: made.CertificatePEM, keyPEM: made.KeyPEM}, nil
}
