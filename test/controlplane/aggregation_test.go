//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// aggregate puts a server behind the cluster. Only who has a certificate of the
// proxy's authority gets through to it, and it answers with whom it believes to
// speak to, and through whom.
func aggregate(t *testing.T, client kubernetes.Interface) {
	authority, err := newAuthority("backend CA")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := authority.server("backend", []string{"backend.default.svc"})
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := tls.X509KeyPair(pair.certificate, pair.key)
	if err != nil {
		t.Fatal(err)
	}
	trust, err := client.CoreV1().ConfigMaps(metav1.NamespaceSystem).Get(t.Context(), "extension-apiserver-authentication", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	proxies := x509.NewCertPool()
	proxies.AppendCertsFromPEM([]byte(trust.Data["requestheader-client-ca-file"]))
	backend := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s through %s", r.Header.Get("X-Remote-User"), r.TLS.PeerCertificates[0].Subject.CommonName)
	}))
	backend.TLS = &tls.Config{
		Certificates: []tls.Certificate{certificate}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: proxies, MinVersion: tls.VersionTLS12,
	}
	backend.StartTLS()
	t.Cleanup(backend.Close)

	register(t, client, port(backend.Listener.Addr().String()), authority.certificate)
	const want = "admin through front-proxy-client"
	eventually(t, func(ctx context.Context) error {
		got, err := client.Discovery().RESTClient().Get().AbsPath("/apis/test.example.com/v1/anything").DoRaw(ctx)
		if err == nil && string(got) != want {
			err = fmt.Errorf("got the answer %q, want %q", got, want)
		}
		return err
	})
}

// register tells the cluster of a server on loopback.
func register(t *testing.T, client kubernetes.Interface, port string, bundle []byte) {
	t.Helper()
	_, err := client.CoreV1().Services(metav1.NamespaceDefault).Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "backend"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	service := fmt.Sprintf(`{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1.test.example.com"},
		"spec": {
			"group": "test.example.com", "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 10,
			"service": {"name": "backend", "namespace": "default", "port": %s}, "caBundle": %q
		}
	}`, port, base64.StdEncoding.EncodeToString(bundle))
	err = client.Discovery().RESTClient().Post().AbsPath("/apis/apiregistration.k8s.io/v1/apiservices").
		SetHeader("Content-Type", "application/json").Body([]byte(service)).Do(t.Context()).Error()
	if err != nil {
		t.Fatal(err)
	}
}
