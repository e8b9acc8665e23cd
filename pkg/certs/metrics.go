/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certs

import (
	"crypto/x509"

	"github.com/prometheus/client_golang/prometheus"
)

// Values of the label of the expiry metric.
const (
	servingCertificate = "serving"
	caCertificate      = "ca"
)

// expiry computes at each scrape how long the certificates in use are still valid.
type expiry struct {
	rotator *Rotator
}

var expiryDesc = prometheus.NewDesc("inferencecache_certificate_expiry_seconds",
	"Seconds until the certificate in use ends, negative afterwards: serving is what the server shows, ca is the authority that signs.",
	[]string{"certificate"}, nil)

// Describe implements prometheus.Collector.
func (e expiry) Describe(descs chan<- *prometheus.Desc) {
	descs <- expiryDesc
}

// Collect implements prometheus.Collector. Before the first certificate there is
// no series.
func (e expiry) Collect(metrics chan<- prometheus.Metric) {
	r := e.rotator
	r.mu.Lock()
	authority, leaf := r.authority, r.leaf
	r.mu.Unlock()
	now := r.config.Clock.Now()
	send := func(cert *x509.Certificate, label string) {
		metrics <- prometheus.MustNewConstMetric(expiryDesc, prometheus.GaugeValue, cert.NotAfter.Sub(now).Seconds(), label)
	}
	if leaf != nil {
		send(leaf.cert, servingCertificate)
	}
	if authority != nil {
		send(authority.signer.cert, caCertificate)
	}
}
