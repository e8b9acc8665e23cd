/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certs

import (
	"context"
	"crypto/x509"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// maxRaces bounds how often in a row another replica may be faster. Each time it
// has done what was to be done, so more than a few are no race any more.
const maxRaces = 10

// SecretError is about a Secret whose content cannot be used. It is left as it is:
// whatever it holds, somebody may need it.
type SecretError struct {
	// Namespace and Name are the Secret's.
	Namespace, Name string
	// Err names the key of the Secret and what is wrong with it.
	Err error
}

// Error names the Secret, its key and what to do.
func (e *SecretError) Error() string {
	return fmt.Sprintf("the certificate authority in Secret %s/%s cannot be used: %v; restore the Secret, or delete it to have it made again",
		e.Namespace, e.Name, e.Err)
}

// Unwrap returns the cause.
func (e *SecretError) Unwrap() error {
	return e.Err
}

// store keeps an authority in a Secret, together with other replicas.
type store struct {
	secrets         typedcorev1.SecretInterface
	namespace, name string
	life            time.Duration
}

// sync reads the authority, makes it when it is absent, takes the steps that are
// due, and returns what is in the Secret then, the steps that this replica took,
// and when to look again. known is what this replica goes by, nil at its start.
func (s *store) sync(ctx context.Context, now time.Time, known *authority, seen func([]byte) bool) (*authority, []step, time.Time, error) {
	var lost error
	for range maxRaces {
		a, steps, again, err := s.try(ctx, now, known, seen)
		if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			return a, steps, again, err
		}
		lost = err
	}
	return nil, nil, time.Time{}, fmt.Errorf("others write it all the time: %w", lost)
}

// try is one round of sync. An error of a lost race is the API's own.
func (s *store) try(ctx context.Context, now time.Time, known *authority, seen func([]byte) bool) (*authority, []step, time.Time, error) {
	secret, err := s.secrets.Get(ctx, s.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return s.create(ctx, now, known)
	}
	if err != nil {
		return nil, nil, time.Time{}, fmt.Errorf("read Secret %s/%s: %w", s.namespace, s.name, err)
	}
	stored, err := parseAuthority(secret.Data)
	if err != nil {
		return nil, nil, time.Time{}, &SecretError{s.namespace, s.name, err}
	}
	stored.written = writtenAt(secret)
	var trusted []*x509.Certificate
	if known != nil {
		trusted = known.trusted
	}
	next, steps, again, err := stored.advanced(now, s.life, trusted, seen)
	if err != nil || next == stored {
		return next, nil, again, err
	}
	changed := secret.DeepCopy()
	next.write(changed.Data)
	if _, err := s.secrets.Update(ctx, changed, metav1.UpdateOptions{}); err != nil {
		return nil, nil, time.Time{}, fmt.Errorf("update Secret %s/%s: %w", s.namespace, s.name, err)
	}
	return next, steps, again, nil
}

// create makes the Secret unless somebody else does. A replica that knows an
// authority whose Secret was deleted does not drop it, which would cut off those
// who trust it: it goes on signing while a successor is published, as it does when
// its time has come.
func (s *store) create(ctx context.Context, now time.Time, known *authority) (*authority, []step, time.Time, error) {
	made, what := &authority{}, replace
	if known != nil && !spanOf(known.signer.cert).over(now) && !known.premature(known.signer, now) {
		made.signer, what = known.signer, prepare
		for _, cert := range known.trusted {
			made.trust(cert)
		}
	}
	if err := made.take(what, now, s.life); err != nil {
		return nil, nil, time.Time{}, err
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: s.name},
		Type:       corev1.SecretTypeOpaque,
		Data:       map[string][]byte{},
	}
	made.write(secret.Data)
	if _, err := s.secrets.Create(ctx, secret, metav1.CreateOptions{}); err != nil {
		return nil, nil, time.Time{}, fmt.Errorf("create Secret %s/%s: %w", s.namespace, s.name, err)
	}
	signer, successor := made.spans(now)
	_, again := decide(signer, successor, now, false)
	return made, []step{what}, again, nil
}

// writtenAt returns when the cluster stored a Secret last.
func writtenAt(secret *corev1.Secret) time.Time {
	last := secret.CreationTimestamp.Time
	for _, field := range secret.ManagedFields {
		if field.Time != nil && field.Time.After(last) {
			last = field.Time.Time
		}
	}
	return last
}
