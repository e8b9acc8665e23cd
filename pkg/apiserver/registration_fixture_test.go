/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"testing"
	"time"

	genericoptions "k8s.io/apiserver/pkg/server/options"

	"inferencecache.io/inference-cache/pkg/apiserver"
	"inferencecache.io/inference-cache/pkg/apiserver/options"
)

const day = 24 * time.Hour

// withOwnCertificates makes a server go without certificate files.
func withOwnCertificates(o *options.Options) *options.Options {
	o.Recommended.SecureServing.ServerCert.CertKey = genericoptions.CertKey{}
	return o
}

// createAuthority lets a server that is never run make the authority.
func createAuthority(t *testing.T, kube *cluster) {
	t.Helper()
	config, err := withOwnCertificates(inCluster(t, kube)).Config(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := config.Close(); err != nil {
		t.Error(err)
	}
}

// authoritySecret returns the Secret of an authority that was made and ends at
// these distances from now.
func authoritySecret(t *testing.T, made, ends time.Duration) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "old"}, NotBefore: time.Now().Add(made), NotAfter: time.Now().Add(ends),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	encode := func(kind string, der []byte) string {
		return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	return fmt.Sprintf(`{apiVersion: v1, kind: Secret, metadata: {name: inference-cache-ca, namespace: %s}, data: {tls.crt: %s, tls.key: %s}}`,
		apiserver.DefaultNamespace, encode("CERTIFICATE", der), encode("PRIVATE KEY", keyDER))
}

// apiService returns the APIService of our group that points to a Service, or to
// the cluster itself when that has no name.
func apiService(namespace, name string) string {
	service := ""
	if name != "" {
		service = fmt.Sprintf(", service: {namespace: %s, name: %s}", namespace, name)
	}
	return fmt.Sprintf(`{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1alpha1.inferencecache.io}, `+
		`spec: {group: inferencecache.io, version: v1alpha1, groupPriorityMinimum: 1000, versionPriority: 10%s}}`, service)
}

// definition returns a CustomResourceDefinition of our group that serves a version.
func definition(plural, version string) string {
	return fmt.Sprintf(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: %s.inferencecache.io}, `+
		`spec: {group: inferencecache.io, versions: [{name: v0, served: true}, {name: %s, served: true}]}}`, plural, version)
}
