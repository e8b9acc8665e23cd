/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certs

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/utils/clock"
)

// Config is what a Rotator needs.
type Config struct {
	// Secrets are those of Namespace. The rights to create a Secret, and to get and
	// update the one called Name, are needed.
	Secrets typedcorev1.SecretInterface
	// Namespace and Name are the Secret of the authority.
	Namespace, Name string
	// Names are what servers are reached by, DNS names or IP addresses.
	Names []string
	// Lifetimes are those of what is made from now on.
	Lifetimes Lifetimes
	// Published says whether those who verify our certificates have the whole
	// bundle. An authority signs only after that, unless its predecessor is about to
	// end. Nil means that nobody needs to be told.
	Published func(bundle []byte) bool
	// Clock is the time of everything.
	Clock clock.Clock
	// Jitter returns numbers from 0 to below 1 that spread what replicas do.
	Jitter func() float64
	// Registerer receives the metrics.
	Registerer prometheus.Registerer
	// Logger tells about rotations and what stands against them.
	Logger logr.Logger
}

// Rotator keeps a serving certificate that is signed by an authority in a Secret.
// All methods may be called concurrently. A Rotator that has its first certificate
// always has one: when the cluster does not answer it goes on with what it knows.
type Rotator struct {
	config Config
	store  store

	// syncing lets one exchange with the cluster happen at a time.
	syncing sync.Mutex

	mu        sync.Mutex
	authority *authority
	leaf      *leaf
	again     time.Time
	listeners []func()
}

// leaf is a serving certificate in use.
type leaf struct {
	*pair
	// issuer signed it.
	issuer *x509.Certificate
	// renewal is when to replace it.
	renewal time.Time
}

// New returns a Rotator that has no certificate yet, and registers its metrics.
func New(config Config) (*Rotator, error) {
	if least := LeastCALifetime(config.Lifetimes.Leaf); config.Lifetimes.Leaf < MinLeafLifetime || config.Lifetimes.CA < least {
		return nil, fmt.Errorf("lifetimes %s of the authority and %s of its certificates do not fit", config.Lifetimes.CA, config.Lifetimes.Leaf)
	}
	if config.Published == nil {
		config.Published = func([]byte) bool { return true }
	}
	r := &Rotator{
		config: config,
		store:  store{secrets: config.Secrets, namespace: config.Namespace, name: config.Name, life: config.Lifetimes.CA},
	}
	if err := config.Registerer.Register(expiry{r}); err != nil {
		return nil, fmt.Errorf("register certificate metrics: %w", err)
	}
	return r, nil
}

// CurrentCertKeyContent returns the serving certificate and its key as PEM, or nil
// before the first one. The caller must not change them.
func (r *Rotator) CurrentCertKeyContent() (cert, key []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.leaf == nil {
		return nil, nil
	}
	return r.leaf.certPEM, r.leaf.keyPEM
}

// Bundle returns every authority to be trusted, as PEM, or nil before the first
// one: what the Secret held when it was last read, in the same order in every
// replica.
func (r *Rotator) Bundle() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.authority == nil {
		return nil
	}
	return r.authority.bundle()
}

// OnChange adds a function that is called after each change of the serving
// certificate or of the bundle. It must not block.
func (r *Rotator) OnChange(listener func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listeners = append(r.listeners, listener)
}

// Refresh reads the Secret, takes the steps that are due and replaces the serving
// certificate if needed. After an error there is what there was before, except that
// a serving certificate is replaced in time by the last authority that is known.
func (r *Rotator) Refresh(ctx context.Context) error {
	r.syncing.Lock()
	defer r.syncing.Unlock()
	now := r.config.Clock.Now()
	r.mu.Lock()
	known := r.authority
	r.mu.Unlock()

	current, steps, again, err := r.store.sync(ctx, now, known, r.config.Published)
	if err == nil {
		r.log(steps, current)
	} else if current = known; current == nil {
		return err
	}
	renewed, leafErr := r.renewed(current, now)
	r.adopt(current, renewed, again)
	return errors.Join(err, leafErr)
}

// log tells about the steps of this replica. Others tell about theirs.
func (r *Rotator) log(steps []step, now *authority) {
	messages := map[step]string{
		replace: "Made a certificate authority",
		prepare: "Made and published the successor of the certificate authority",
		promote: "The successor of the certificate authority signs from now on",
	}
	for _, s := range steps {
		r.config.Logger.Info(messages[s], "namespace", r.config.Namespace, "secret", r.config.Name,
			"signer", now.signer.cert.Subject.CommonName, "expires", now.signer.cert.NotAfter, "trusted", len(now.trusted))
	}
}

// renewed returns the serving certificate to use from now on: the one that there
// is, or another if that is old or of an authority that does not sign any more.
func (r *Rotator) renewed(a *authority, now time.Time) (*leaf, error) {
	r.mu.Lock()
	current := r.leaf
	r.mu.Unlock()
	// One from before the clock was set back is of no use if that was right.
	valid := current != nil && !current.cert.NotBefore.After(now)
	if valid && current.issuer.Equal(a.signer.cert) {
		// The end of an authority that has no successor yet cannot be put off.
		longer := leafEnd(a.signer, now, r.config.Lifetimes.Leaf).After(current.cert.NotAfter)
		if now.Before(current.renewal) || !longer {
			return current, nil
		}
	}
	life := r.config.Lifetimes.Leaf
	if current != nil && !valid {
		// Which of the two times is right is not known here: it serves both.
		life = max(life, current.cert.NotAfter.Sub(now))
	}
	made, err := newLeaf(a.signer, r.config.Names, now, life)
	if err != nil {
		return current, fmt.Errorf("make serving certificate: %w", err)
	}
	s := spanOf(made.cert)
	// Replicas that started together do not stay together: a tenth of the life.
	early := time.Duration(r.config.Jitter() * float64(s.life()) / 10)
	r.config.Logger.V(2).Info("Made a serving certificate", "issuer", made.cert.Issuer.CommonName, "expires", made.cert.NotAfter)
	return &leaf{pair: made, issuer: a.signer.cert, renewal: s.renewal().Add(-early)}, nil
}

// adopt puts authority and certificate to use and tells the listeners.
func (r *Rotator) adopt(a *authority, l *leaf, again time.Time) {
	r.mu.Lock()
	changed := r.authority == nil || l != r.leaf || !bytes.Equal(a.bundle(), r.authority.bundle())
	r.authority, r.leaf, r.again = a, l, again
	listeners := slices.Clone(r.listeners)
	r.mu.Unlock()
	if !changed {
		return
	}
	for _, listener := range listeners {
		listener()
	}
}
