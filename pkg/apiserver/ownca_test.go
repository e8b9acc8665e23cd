/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"inferencecache.io/inference-cache/pkg/apiserver"
)

// TestOwnCertificates starts a server without certificate files and verifies both
// of its ports by every name that it has in the cluster.
func TestOwnCertificates(t *testing.T) {
	kube := &cluster{}
	kube.objects.put(t, "apiservices", apiService(apiserver.DefaultNamespace, apiserver.DefaultServiceName))
	o := withOwnCertificates(inCluster(t, kube))
	config, err := o.Config(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	grpc := config.Extra.GRPCListener.Addr().String()
	ready, _ := start(t.Context(), t, config)
	<-ready

	var published string
	mustSucceedSoon(t, func(context.Context) error {
		service := kube.objects.get("apiservices", "", "v1alpha1.inferencecache.io")
		published, _, _ = unstructured.NestedString(service.Object, "spec", "caBundle")
		if published == "" {
			return errors.New("nothing is published")
		}
		return nil
	})
	bundle, err := base64.StdEncoding.DecodeString(published)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(bundle) {
		t.Fatalf("no bundle: %q", bundle)
	}
	for _, address := range []string{o.Recommended.SecureServing.Listener.Addr().String(), grpc} {
		for _, name := range []string{
			"inference-cache-apiserver.inference-cache-system.svc", "inference-cache-apiserver.inference-cache-system", "inference-cache-apiserver",
			"inference-cache-index.inference-cache-system.svc", "inference-cache-index.inference-cache-system", "inference-cache-index", "localhost",
		} {
			dialer := tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: name, NextProtos: []string{"h2"}}}
			connection, err := dialer.DialContext(t.Context(), "tcp", address)
			if err != nil {
				t.Errorf("%s as %s: %v", address, name, err)
				continue
			}
			connection.Close()
		}
	}
	metrics := metricsPage(t, o.Recommended.SecureServing.Listener.Addr().String())
	for _, want := range []string{
		`inferencecache_certificate_expiry_seconds{certificate="serving"}`, `inferencecache_certificate_expiry_seconds{certificate="ca"}`,
		`inferencecache_registration_problems{problem="bundle"} 0`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics do not have %s", want)
		}
	}
}

// metricsPage returns the metrics of a server.
func metricsPage(t *testing.T, address string) string {
	t.Helper()
	c, err := rest.HTTPClientFor(clusterConfig(address, "admin"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("status %d, error %v: %s", response.StatusCode, err, body)
	}
	return string(body)
}

// TestStartWaitsForAuthority holds that a server which cannot have an authority
// neither ends nor listens, and goes on as soon as it can have one.
func TestStartWaitsForAuthority(t *testing.T) {
	tests := map[string]struct {
		obstruct, clear func(t *testing.T, kube *cluster)
		logged          string
	}{
		"missing right": {
			obstruct: func(_ *testing.T, kube *cluster) { kube.refused.set("create secrets") },
			clear:    func(_ *testing.T, kube *cluster) { kube.refused.set() },
			logged:   "the server may not create secrets in inference-cache-system; add to the rules of its Role in inference-cache-system",
		},
		"damaged Secret": {
			obstruct: func(t *testing.T, kube *cluster) {
				kube.objects.put(t, "secrets", `{apiVersion: v1, kind: Secret, metadata: {name: inference-cache-ca, namespace: inference-cache-system}}`)
			},
			clear: func(_ *testing.T, kube *cluster) {
				kube.objects.remove("secrets", apiserver.DefaultNamespace, "inference-cache-ca")
			},
			logged: "the certificate authority in Secret inference-cache-system/inference-cache-ca cannot be used: key tls.crt is missing",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			kube := &cluster{}
			tc.obstruct(t, kube)
			log := &lines{about: tc.logged}
			o := withOwnCertificates(inCluster(t, kube))
			made := make(chan error, 1)
			var config *apiserver.Config
			go func() {
				var err error
				config, err = o.Config(log.context(t))
				made <- err
			}()
			mustSucceedSoon(t, func(context.Context) error {
				select {
				case err := <-made:
					t.Fatalf("did not wait: %v", err)
				default:
				}
				if len(log.get()) == 0 {
					return fmt.Errorf("did not log %q", tc.logged)
				}
				return nil
			})
			tc.clear(t, kube)
			select {
			case err := <-made:
				if err != nil {
					t.Fatal(err)
				}
				if err := config.Close(); err != nil {
					t.Error(err)
				}
			case <-time.After(2 * time.Minute):
				t.Fatal("the start still waits")
			}
		})
	}
}

// TestRefusesNextToDefinition starts a server in a cluster whose definition has our
// group, and deletes that.
func TestRefusesNextToDefinition(t *testing.T) {
	kube := &cluster{}
	kube.objects.put(t, "customresourcedefinitions", definition("cachebackends", "v1alpha1"))
	o := inCluster(t, kube)
	config, err := o.Config(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	address := o.Recommended.SecureServing.Listener.Addr().String()
	ready, _ := start(t.Context(), t, config)
	const want = "CustomResourceDefinition cachebackends.inferencecache.io serves inferencecache.io/v1alpha1"
	mustSucceedSoon(t, func(ctx context.Context) error {
		if status, body, err := readiness(ctx, t, address, "/readyz/registration"); err != nil || status != http.StatusInternalServerError || !strings.Contains(body, want) {
			return fmt.Errorf("readiness is %d, error %w: %s", status, err, body)
		}
		return nil
	})
	select {
	case <-ready:
		t.Error("the server says that it is ready")
	default:
	}
	kube.objects.remove("customresourcedefinitions", "", "cachebackends.inferencecache.io")
	select {
	case <-ready:
	case <-time.After(2 * time.Minute):
		t.Fatal("the server is not ready after the definition was deleted")
	}
}
