/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controlplane

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

const (
	// lifetime of certificates. A cluster is used for minutes, by people for days.
	lifetime = 365 * 24 * time.Hour
	// clockSkew predates certificates, for clients whose clock is behind.
	clockSkew = time.Hour
)

// keyPair is a certificate and its key as PEM.
type keyPair struct {
	certificate, key []byte
}

// authority signs certificates.
type authority struct {
	keyPair
	parsed *x509.Certificate
	signer crypto.Signer
}

func newAuthority(name string) (*authority, error) {
	signer, err := newKey()
	if err != nil {
		return nil, err
	}
	a := &authority{signer: signer, parsed: &x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}}
	if a.keyPair, err = a.sign(a.parsed, signer); err != nil {
		return nil, err
	}
	block, _ := pem.Decode(a.certificate)
	a.parsed, err = x509.ParseCertificate(block.Bytes)
	return a, err
}

// client makes a certificate that Kubernetes takes for a user in groups.
func (a *authority) client(user string, groups ...string) (keyPair, error) {
	return a.issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

// server makes a certificate for what listens on loopback, under further names
// and addresses. Its owner may also be a client: members of etcd are both.
func (a *authority) server(name string, names []string, addresses ...net.IP) (keyPair, error) {
	return a.issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: name},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		DNSNames:    append([]string{"localhost"}, names...),
		IPAddresses: append([]net.IP{net.IPv4(127, 0, 0, 1)}, addresses...),
	})
}

func (a *authority) issue(template *x509.Certificate) (keyPair, error) {
	key, err := newKey()
	if err != nil {
		return keyPair{}, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	return a.sign(template, key)
}

func (a *authority) sign(template *x509.Certificate, key *ecdsa.PrivateKey) (keyPair, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return keyPair{}, fmt.Errorf("make serial number: %w", err)
	}
	now := time.Now()
	template.SerialNumber, template.NotBefore, template.NotAfter = serial, now.Add(-clockSkew), now.Add(lifetime)
	der, err := x509.CreateCertificate(rand.Reader, template, a.parsed, key.Public(), a.signer)
	if err != nil {
		return keyPair{}, fmt.Errorf("sign certificate of %s: %w", template.Subject.CommonName, err)
	}
	encoded, err := encodeKey(key)
	return keyPair{certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), key: encoded}, err
}

func newKey() (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	return key, nil
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}
