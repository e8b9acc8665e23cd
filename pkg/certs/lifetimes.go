/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certs

import (
	"crypto/x509"
	"time"
)

const (
	// MinLeafLifetime is the shortest life of a serving certificate. What is left of
	// it after two thirds has to be enough for a few tries to reach a cluster.
	MinLeafLifetime = 10 * time.Second

	// clockSkew predates certificates, for clients whose clock is behind.
	clockSkew = time.Hour

	// propagationShare is which part of an authority's life its successor is only
	// published: a month of a year, for those who copy the bundle by hand.
	propagationShare = 12

	// lastShare is which part of an authority's life is left when its successor
	// signs although it was not seen to be published. There is nothing to lose then:
	// what the old one signed ends with it.
	lastShare = 100

	// signingShare is the least part of an authority's life that is left when its
	// successor takes over, 1 - 2/3 - 1/12.
	signingShare = 4
)

// Lifetimes are how long certificates are valid from the moment they are made.
type Lifetimes struct {
	// CA is the life of an authority, at least LeastCALifetime of Leaf.
	CA time.Duration
	// Leaf is the life of a serving certificate, at least MinLeafLifetime.
	Leaf time.Duration
}

// LeastCALifetime returns the shortest life of an authority whose certificates live
// for leaf: such that the end of the authority never cuts one short.
func LeastCALifetime(leaf time.Duration) time.Duration {
	return signingShare * leaf
}

// span is the life of a certificate: from when it was made, which is later than
// what it says of itself, to its end. The zero value stands for no certificate.
type span struct {
	made, ends time.Time
}

func spanOf(cert *x509.Certificate) span {
	return span{made: cert.NotBefore.Add(clockSkew), ends: cert.NotAfter}
}

func (s span) life() time.Duration {
	return s.ends.Sub(s.made)
}

// renewal returns when two thirds of the life are over.
func (s span) renewal() time.Time {
	return s.made.Add(s.life() / 3 * 2)
}

func (s span) over(now time.Time) bool {
	return !now.Before(s.ends)
}

// step is what a change of authority needs next.
type step int

const (
	// stay leaves everything as it is.
	stay step = iota
	// prepare makes a successor and publishes it.
	prepare
	// promote lets the successor sign.
	promote
	// replace makes an authority that signs at once, because none is valid.
	replace
)

// decide returns the next step and when the next decision is due at the latest;
// zero means that only news of the outside make a difference. successor is zero
// when there is none; seen says that those who verify were told about it.
//
// Everything is derived from the certificates: neither a change of the flags nor a
// restart moves a rotation that has begun, and all replicas decide alike.
func decide(signer, successor span, now time.Time, seen bool) (step, time.Time) {
	valid := successor != span{} && !successor.over(now)
	switch {
	case signer.over(now) && valid:
		return promote, time.Time{}
	case signer.over(now):
		return replace, time.Time{}
	case !valid && now.Before(signer.renewal()):
		return stay, signer.renewal()
	case !valid:
		return prepare, time.Time{}
	}
	published := successor.made.Add(signer.life() / propagationShare)
	last := signer.ends.Add(-signer.life() / lastShare)
	switch {
	case !now.Before(last):
		return promote, time.Time{}
	case now.Before(published):
		return stay, published
	case !seen:
		return stay, last
	default:
		return promote, time.Time{}
	}
}
