/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
)

// Signed is a certificate and its key, as they are and as PEM (PKCS #8 for the key).
type Signed struct {
	Certificate            *x509.Certificate
	Key                    *ecdsa.PrivateKey
	CertificatePEM, KeyPEM []byte
}

// Sign makes a key on the curve P-256 and a certificate for it after a template,
// signed by parent with its key signer or, when parent is nil, by itself. A template
// without a serial number gets a random one. It may be called concurrently.
func Sign(template, parent *x509.Certificate, signer *ecdsa.PrivateKey) (*Signed, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return nil, fmt.Errorf("sign certificate: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("parse own certificate: %w", err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode key: %w", err)
	}
	return &Signed{
		Certificate:    cert,
		Key:            key,
		CertificatePEM: pem.EncodeToMemory(&pem.Block{Type: certificateBlock, Bytes: der}),
		KeyPEM:         pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: keyDER}),
	}, nil
}
