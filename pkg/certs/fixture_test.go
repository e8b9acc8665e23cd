/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certs

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	testingclock "k8s.io/utils/clock/testing"
)

// secrets is a namespace with room for one Secret, which refuses writes that are
// not based on its latest version. client-go's fake does not.
type secrets struct {
	typedcorev1.SecretInterface

	mu      sync.Mutex
	version int
	secret  *corev1.Secret
	// fails, when set, answers every call.
	fails error
	// calls are the verbs that were asked for.
	calls []string
}

var secretResource = schema.GroupResource{Resource: "secrets"}

// call needs the lock afterwards, also after an error.
func (s *secrets) call(verb string) error {
	s.mu.Lock()
	s.calls = append(s.calls, verb)
	return s.fails
}

func (s *secrets) Get(_ context.Context, name string, _ metav1.GetOptions) (*corev1.Secret, error) {
	defer s.mu.Unlock()
	if err := s.call("get"); err != nil {
		return nil, err
	}
	if s.secret == nil {
		return nil, apierrors.NewNotFound(secretResource, name)
	}
	return s.secret.DeepCopy(), nil
}

func (s *secrets) Create(_ context.Context, secret *corev1.Secret, _ metav1.CreateOptions) (*corev1.Secret, error) {
	defer s.mu.Unlock()
	if err := s.call("create"); err != nil {
		return nil, err
	}
	if s.secret != nil {
		return nil, apierrors.NewAlreadyExists(secretResource, secret.Name)
	}
	return s.store(secret), nil
}

func (s *secrets) Update(_ context.Context, secret *corev1.Secret, _ metav1.UpdateOptions) (*corev1.Secret, error) {
	defer s.mu.Unlock()
	if err := s.call("update"); err != nil {
		return nil, err
	}
	if s.secret == nil {
		return nil, apierrors.NewNotFound(secretResource, secret.Name)
	}
	if s.secret.ResourceVersion != secret.ResourceVersion {
		return nil, apierrors.NewConflict(secretResource, secret.Name, nil)
	}
	return s.store(secret), nil
}

// store needs the lock.
func (s *secrets) store(secret *corev1.Secret) *corev1.Secret {
	s.version++
	s.secret = secret.DeepCopy()
	s.secret.ResourceVersion = strconv.Itoa(s.version)
	return s.secret.DeepCopy()
}

// set replaces the Secret, as a person would; nil deletes it.
func (s *secrets) set(secret *corev1.Secret) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secret = nil
	if secret != nil {
		s.store(secret)
	}
}

// fail makes every call fail, or none.
func (s *secrets) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = err
}

// count returns how often a verb was asked for.
func (s *secrets) count(verb string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, call := range s.calls {
		if call == verb {
			n++
		}
	}
	return n
}

// stored returns the authority in the Secret.
func (s *secrets) stored(t *testing.T) *authority {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	a, err := parseAuthority(s.secret.Data)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// replica returns a Rotator of a replica; published may be nil.
func replica(t *testing.T, s *secrets, c *testingclock.FakeClock, published func([]byte) bool) *Rotator {
	t.Helper()
	r, err := New(Config{
		Secrets: s, Namespace: "ns", Name: "ca", Names: []string{"a.ns.svc", "localhost", "127.0.0.1"},
		Lifetimes: Lifetimes{CA: caLife, Leaf: leafLife}, Published: published,
		Clock: c, Jitter: func() float64 { return 0 }, Registerer: prometheus.NewRegistry(), Logger: logr.Discard(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func refresh(t *testing.T, r *Rotator) {
	t.Helper()
	if err := r.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// serving returns the certificate that a replica shows.
func serving(t *testing.T, r *Rotator) *x509.Certificate {
	t.Helper()
	certPEM, _ := r.CurrentCertKeyContent()
	block, rest := pem.Decode(certPEM)
	if block == nil || len(rest) > 0 {
		t.Fatalf("not one certificate: %q", certPEM)
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// verify checks a certificate against a bundle as the aggregator of a cluster does.
func verify(t *testing.T, cert *x509.Certificate, bundle []byte, now time.Time) {
	t.Helper()
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(bundle) {
		t.Fatalf("no bundle: %q", bundle)
	}
	for _, name := range []string{"a.ns.svc", "localhost", "127.0.0.1"} {
		if _, err := cert.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, CurrentTime: now}); err != nil {
			t.Errorf("at %s: %v", now, err)
		}
	}
}
