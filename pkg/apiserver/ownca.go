/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"k8s.io/apiserver/pkg/server/dynamiccertificates"

	"inferencecache.io/inference-cache/pkg/certs"
)

// ownCertificate is the serving certificate of our own authority as the library
// wants to see it. The port changes it as soon as it is replaced.
type ownCertificate struct {
	*certs.Rotator
}

// ServingCertificate returns the certificate that the server makes itself, or nil
// when certificates are given. It is there once Prepare has returned.
func (r *Registration) ServingCertificate() dynamiccertificates.CertKeyContentProvider {
	if r.rotator == nil {
		return nil
	}
	return ownCertificate{r.rotator}
}

// Name implements dynamiccertificates.CertKeyContentProvider.
func (ownCertificate) Name() string {
	return "serving certificate of the server's own authority"
}

// AddListener implements dynamiccertificates.Notifier.
func (c ownCertificate) AddListener(listener dynamiccertificates.Listener) {
	c.OnChange(listener.Enqueue)
}
