/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certs

import (
	"crypto/ecdsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"
)

const (
	certificateBlock = "CERTIFICATE"
	keyBlock         = "PRIVATE KEY"
)

// pair is a certificate and its key, parsed and as PEM. It is never changed.
type pair struct {
	cert            *x509.Certificate
	key             *ecdsa.PrivateKey
	certPEM, keyPEM []byte
}

// newAuthorityPair makes an authority. Each has a name of its own, so that nobody
// confuses two that are trusted at the same time.
func newAuthorityPair(now time.Time, life time.Duration) (*pair, error) {
	return sign(&x509.Certificate{
		Subject:               pkix.Name{CommonName: "inference-cache-ca@" + strconv.FormatInt(now.Unix(), 10)},
		NotBefore:             now.Add(-clockSkew),
		NotAfter:              now.Add(life),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
	}, nil)
}

// newLeaf makes a serving certificate for names, the first of which is the
// certificate's own. It does not outlive its authority.
func newLeaf(ca *pair, names []string, now time.Time, life time.Duration) (*pair, error) {
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: commonName(names)},
		NotBefore:             now.Add(-clockSkew),
		NotAfter:              leafEnd(ca, now, life),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
			continue
		}
		template.DNSNames = append(template.DNSNames, name)
	}
	return sign(template, ca)
}

// leafEnd returns when a certificate that is made now ends.
func leafEnd(ca *pair, now time.Time, life time.Duration) time.Time {
	if ends := now.Add(life); ends.Before(ca.cert.NotAfter) {
		return ends
	}
	return ca.cert.NotAfter
}

// commonName returns what people see first. What counts are the alternative names;
// a common name that is too long would make the certificate invalid.
func commonName(names []string) string {
	const longest = 64
	for _, name := range names {
		if len(name) <= longest {
			return name
		}
	}
	return ""
}

// sign makes a pair, signed by ca or, without one, by itself.
func sign(template *x509.Certificate, ca *pair) (*pair, error) {
	var parent *x509.Certificate
	var signer *ecdsa.PrivateKey
	if ca != nil {
		parent, signer = ca.cert, ca.key
	}
	made, err := Sign(template, parent, signer)
	if err != nil {
		return nil, err
	}
	return &pair{cert: made.Certificate, key: made.Key, certPEM: made.CertificatePEM, keyPEM: made.KeyPEM}, nil
}

// parseCertificates reads PEM blocks of certificates and refuses anything else,
// so that nothing is lost by writing back what was read.
func parseCertificates(data []byte) ([]*x509.Certificate, error) {
	var certs []*x509.Certificate
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != certificateBlock {
			return nil, fmt.Errorf("holds a PEM block %q, want %s", block.Type, certificateBlock)
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("holds no certificate: %w", err)
		}
		certs = append(certs, cert)
	}
	if len(certs) == 0 {
		return nil, errors.New("holds no PEM block of a certificate")
	}
	return certs, nil
}

// parseKey reads the key of an authority.
func parseKey(data []byte) (*ecdsa.PrivateKey, error) {
	block, _ := pem.Decode(data)
	if block == nil || block.Type != keyBlock {
		return nil, errors.New("holds no PEM block of a private key in PKCS #8")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("holds no private key: %w", err)
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("holds a %T, want an ECDSA key", parsed)
	}
	return key, nil
}

// encodeCertificates is the reverse of parseCertificates.
func encodeCertificates(certs []*x509.Certificate) []byte {
	var out []byte
	for _, cert := range certs {
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: certificateBlock, Bytes: cert.Raw})...)
	}
	return out
}
