/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certs

import (
	"crypto/x509"
	"fmt"
	"slices"
	"time"
)

// Keys of the Secret.
const (
	// KeyBundle has every authority that is to be trusted, as PEM.
	KeyBundle = "ca.crt"

	keySignerCert    = "tls.crt"
	keySignerKey     = "tls.key"
	keySuccessorCert = "next.crt"
	keySuccessorKey  = "next.key"
)

// authority is what the Secret holds. A value is never changed once it is shared.
type authority struct {
	// signer signs serving certificates.
	signer *pair
	// successor is trusted, and will be the next to sign; nil most of the time.
	successor *pair
	// trusted has signer, successor, and what signed before and is still valid, in
	// the order in which they came.
	trusted []*x509.Certificate
	// written is when the cluster stored it, by the clock of the cluster; zero when
	// that is not known.
	written time.Time
}

// keyError says which key of a Secret is wrong.
type keyError struct {
	key string
	err error
}

func (e *keyError) Error() string {
	return fmt.Sprintf("key %s %v", e.key, e.err)
}

func (e *keyError) Unwrap() error {
	return e.err
}

// parseAuthority reads the data of a Secret. An error names the key that is wrong.
func parseAuthority(data map[string][]byte) (*authority, error) {
	signer, err := parsePair(data, keySignerCert, keySignerKey)
	if err != nil {
		return nil, err
	}
	a := &authority{signer: signer}
	if len(data[keySuccessorCert]) > 0 || len(data[keySuccessorKey]) > 0 {
		if a.successor, err = parsePair(data, keySuccessorCert, keySuccessorKey); err != nil {
			return nil, err
		}
	}
	if bundle, there := data[KeyBundle]; there {
		if a.trusted, err = parseCertificates(bundle); err != nil {
			return nil, &keyError{KeyBundle, err}
		}
	}
	a.trust(signer.cert)
	if a.successor != nil {
		a.trust(a.successor.cert)
	}
	return a, nil
}

func parsePair(data map[string][]byte, certName, keyName string) (*pair, error) {
	for _, name := range []string{certName, keyName} {
		if len(data[name]) == 0 {
			return nil, &keyError{name, fmt.Errorf("is missing")}
		}
	}
	certs, err := parseCertificates(data[certName])
	if err != nil {
		return nil, &keyError{certName, err}
	}
	if len(certs) != 1 {
		return nil, &keyError{certName, fmt.Errorf("holds %d certificates, want one", len(certs))}
	}
	if cert := certs[0]; !cert.IsCA || cert.KeyUsage&x509.KeyUsageCertSign == 0 {
		return nil, &keyError{certName, fmt.Errorf("holds the certificate %q, which may not sign others", cert.Subject)}
	}
	key, err := parseKey(data[keyName])
	if err != nil {
		return nil, &keyError{keyName, err}
	}
	if !key.PublicKey.Equal(certs[0].PublicKey) {
		return nil, &keyError{keyName, fmt.Errorf("is not the key of the certificate in %s", certName)}
	}
	return &pair{cert: certs[0], key: key, certPEM: encodeCertificates(certs), keyPEM: data[keyName]}, nil
}

// write puts the authority into the data of a Secret, and leaves keys that are not
// ours alone.
func (a *authority) write(data map[string][]byte) {
	data[keySignerCert], data[keySignerKey] = a.signer.certPEM, a.signer.keyPEM
	delete(data, keySuccessorCert)
	delete(data, keySuccessorKey)
	if a.successor != nil {
		data[keySuccessorCert], data[keySuccessorKey] = a.successor.certPEM, a.successor.keyPEM
	}
	data[KeyBundle] = a.bundle()
}

func (a *authority) bundle() []byte {
	return encodeCertificates(a.trusted)
}

func (a *authority) trusts(cert *x509.Certificate) bool {
	return slices.ContainsFunc(a.trusted, cert.Equal)
}

// trust adds to the bundle what is not there.
func (a *authority) trust(cert *x509.Certificate) {
	if !a.trusts(cert) {
		a.trusted = append(a.trusted, cert)
	}
}

// spans returns the lives that decide looks at. A certificate that is of no use yet
// has none.
func (a *authority) spans(now time.Time) (signer, successor span) {
	if !a.premature(a.signer, now) {
		signer = spanOf(a.signer.cert)
	}
	if a.successor != nil && !a.premature(a.successor, now) {
		successor = spanOf(a.successor.cert)
	}
	return signer, successor
}

// premature reports whether a certificate was made by a clock that was ahead, so that
// nobody can verify it for now. That it looks so to a clock that is behind does not
// count: the cluster cannot have stored what was yet to be made.
func (a *authority) premature(p *pair, now time.Time) bool {
	begins := p.cert.NotBefore
	return begins.After(now) && begins.After(a.written)
}

// advanced returns the authority as it has to be now, the steps that it took and
// when to look again. The receiver stays as it is. It is the receiver that is
// returned when nothing changes. known are certificates that this replica trusts
// already: they stay trusted to their end, whatever happened to the Secret.
func (a *authority) advanced(now time.Time, life time.Duration, known []*x509.Certificate, seen func(bundle []byte) bool) (*authority, []step, time.Time, error) {
	next := &authority{signer: a.signer, successor: a.successor, trusted: slices.Clone(a.trusted), written: a.written}
	for _, cert := range known {
		next.trust(cert)
	}
	var steps []step
	for {
		signer, successor := next.spans(now)
		what, again := decide(signer, successor, now, a.successor != nil && seen(a.bundle()))
		if what == stay {
			next.trusted = slices.DeleteFunc(next.trusted, func(c *x509.Certificate) bool { return spanOf(c).over(now) })
			if len(steps) == 0 && slices.EqualFunc(next.trusted, a.trusted, (*x509.Certificate).Equal) {
				return a, nil, again, nil
			}
			return next, steps, again, nil
		}
		if err := next.take(what, now, life); err != nil {
			return nil, nil, time.Time{}, err
		}
		steps = append(steps, what)
	}
}

// take does one step.
func (a *authority) take(what step, now time.Time, life time.Duration) error {
	if what == promote {
		a.signer, a.successor = a.successor, nil
		return nil
	}
	made, err := newAuthorityPair(now, life)
	if err != nil {
		return err
	}
	a.trust(made.cert)
	if what == prepare {
		a.successor = made
		return nil
	}
	a.signer, a.successor = made, nil
	return nil
}
