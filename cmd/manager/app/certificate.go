/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"inferencecache.io/inference-cache/pkg/certs"
)

const (
	// serviceName is the Service of the manager, by which it is called.
	serviceName = "inference-cache-manager"
	// authoritySecret has the authority that signs the manager's certificates.
	authoritySecret = "inference-cache-manager-ca"
)

// lifetimes are those of the API server's own certificates.
var lifetimes = certs.Lifetimes{CA: 365 * 24 * time.Hour, Leaf: 30 * 24 * time.Hour}

// certificate is what the manager serves TLS with. It is made by every replica for
// itself, from an authority that they share.
type certificate struct {
	*certs.Rotator
	current atomic.Pointer[tls.Certificate]
}

// newCertificate returns a certificate whose authorities sign when published says that
// the cluster knows them; nil asks nobody.
func newCertificate(config *rest.Config, namespace string, published func([]byte) bool, registerer prometheus.Registerer, logger logr.Logger) (*certificate, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	name := serviceName + "." + namespace + ".svc"
	rotator, err := certs.New(certs.Config{
		Secrets: client.CoreV1().Secrets(namespace), Namespace: namespace, Name: authoritySecret,
		Names:     []string{name, serviceName + "." + namespace, "localhost"},
		Lifetimes: lifetimes, Published: published, Clock: clock.RealClock{}, Jitter: rand.Float64,
		Registerer: registerer, Logger: logger.WithName("certificate"),
	})
	if err != nil {
		return nil, err
	}
	c := &certificate{Rotator: rotator}
	rotator.OnChange(c.load)
	return c, nil
}

// load takes what the rotator has made. It cannot be wrong: the rotator encoded it.
func (c *certificate) load() {
	if pair, err := tls.X509KeyPair(c.CurrentCertKeyContent()); err == nil {
		c.current.Store(&pair)
	}
}

// Start keeps the certificate fresh until ctx ends. It implements manager.Runnable.
func (c *certificate) Start(ctx context.Context) error {
	if err := c.Prepare(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("make a serving certificate: %w", err)
	}
	c.load()
	c.Run(ctx)
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: every replica is
// called.
func (*certificate) NeedLeaderElection() bool { return false }

// serve has a listener use the certificate, whichever is the newest.
func (c *certificate) serve(config *tls.Config) {
	config.MinVersion = tls.VersionTLS12
	config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		if current := c.current.Load(); current != nil {
			return current, nil
		}
		return nil, errors.New("there is no serving certificate yet")
	}
}
