//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certificates

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"

	"inferencecache.io/inference-cache/test/programs"
)

// TestFrontProxyAuthorityIsReplaced adds an authority to those that the cluster
// publishes for its front proxy, as somebody does who replaces it. A proxy with a
// certificate of the new one is believed soon and without a restart, nobody believes
// it before, and nobody any more when the authority is taken away.
func TestFrontProxyAuthorityIsReplaced(t *testing.T) {
	authority, proxy := newProxy(t)
	ask := func(want int) error {
		for _, r := range environment.Installation.Replicas() {
			header := http.Header{"X-Remote-User": {"admin"}, "X-Remote-Group": {"system:masters"}}
			body, status, err := get(t.Context(), r, "/apis/inferencecache.io/v1alpha1/cachebackends", []tls.Certificate{proxy}, header)
			if err != nil {
				return err
			}
			if status != want {
				return fmt.Errorf("status %d, want %d: %s", status, want, body)
			}
		}
		return nil
	}
	// With a certificate that nobody knows one is nobody.
	if err := ask(http.StatusForbidden); err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(environment.Cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	maps := client.CoreV1().ConfigMaps("kube-system")
	const key = "requestheader-client-ca-file"
	publish := func(change func(published string) string) {
		t.Helper()
		err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
			config, err := maps.Get(t.Context(), "extension-apiserver-authentication", metav1.GetOptions{})
			if err != nil {
				return err
			}
			config.Data[key] = change(config.Data[key])
			_, err = maps.Update(t.Context(), config, metav1.UpdateOptions{})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		change func(published string) string
		status int
	}{
		{change: func(published string) string { return published + string(authority) }, status: http.StatusOK},
		{change: func(published string) string { return strings.ReplaceAll(published, string(authority), "") }, status: http.StatusForbidden},
	} {
		publish(step.change)
		if err := programs.Poll(t.Context(), func() error { return ask(step.status) }); err != nil {
			t.Fatal(err)
		}
	}
}

// newProxy returns an authority as PEM, and the certificate of a proxy that it has
// signed.
func newProxy(t *testing.T) ([]byte, tls.Certificate) {
	t.Helper()
	issue := func(template, parent *x509.Certificate, signer *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if signer == nil {
			signer = key
		}
		template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
		der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
		if err != nil {
			t.Fatal(err)
		}
		cert, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		return cert, key
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "next front-proxy-ca"},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	ca, key := issue(template, template, nil)
	leaf, leafKey := issue(&x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "front-proxy-client"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, ca, key)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Raw}), tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: leafKey}
}
