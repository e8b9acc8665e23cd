/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"inferencecache.io/inference-cache/pkg/apiserver/apiservertest"
	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// group is the path of our group's resources.
const group = "/apis/inferencecache.io/v1alpha1"

// trust returns the TLS configuration of a client that knows the server's CA.
func trust(t testing.TB, s *apiservertest.Server) *tls.Config {
	t.Helper()
	pem, err := os.ReadFile(s.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		t.Fatal("ca.crt holds no certificate")
	}
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

// client returns an HTTP client that trusts the server and has no credentials.
func client(t testing.TB, s *apiservertest.Server) *http.Client {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: trust(t, s), ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// response is the part of an HTTP response that tests look at.
type response struct {
	status      int
	contentType string
	body        string
}

// get reads a path with the given headers, which come in pairs.
func get(t testing.TB, c *http.Client, url string, headers ...string) response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := c.Do(r)
	if err != nil {
		t.Fatalf("get %s: %v", url, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("get %s: %v", url, err)
	}
	return response{status: res.StatusCode, contentType: res.Header.Get("Content-Type"), body: string(body)}
}

func TestAccess(t *testing.T) {
	s := apiservertest.Start(t)
	c := client(t, s)
	tests := map[string]struct {
		path, authorization string
		want                int
	}{
		"token":                     {path: group + "/cachebackends", authorization: "Bearer " + s.Token, want: http.StatusOK},
		"token on metrics":          {path: "/metrics", authorization: "Bearer " + s.Token, want: http.StatusOK},
		"wrong token":               {path: group + "/cachebackends", authorization: "Bearer wrong", want: http.StatusUnauthorized},
		"wrong token on metrics":    {path: "/metrics", authorization: "Bearer wrong", want: http.StatusUnauthorized},
		"anonymous":                 {path: group + "/cachebackends", want: http.StatusUnauthorized},
		"anonymous on discovery":    {path: "/apis", want: http.StatusUnauthorized},
		"anonymous on OpenAPI":      {path: "/openapi/v3", want: http.StatusUnauthorized},
		"anonymous on metrics":      {path: "/metrics", want: http.StatusUnauthorized},
		"anonymous on profiling":    {path: "/debug/pprof/", want: http.StatusUnauthorized},
		"anonymous on the index":    {path: group + "/cacheindices", want: http.StatusUnauthorized},
		"anonymous on readiness":    {path: "/readyz", want: http.StatusOK},
		"anonymous on liveness":     {path: "/livez", want: http.StatusOK},
		"anonymous below readiness": {path: "/readyz/etcd", want: http.StatusUnauthorized},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var headers []string
			if tc.authorization != "" {
				headers = []string{"Authorization", tc.authorization}
			}
			if got := get(t, c, s.Config.Host+tc.path, headers...); got.status != tc.want {
				t.Errorf("status %d, want %d: %s", got.status, tc.want, got.body)
			}
		})
	}
}

func TestImpersonationIsTheAdministratorsOnly(t *testing.T) {
	s := apiservertest.Start(t)
	got := get(t, client(t, s), s.Config.Host+group+"/cachebackends", "Authorization", "Bearer "+s.Token, "Impersonate-User", "somebody")
	if got.status != http.StatusForbidden {
		t.Errorf("an impersonated user has rights: status %d", got.status)
	}
}

func TestGRPCAccess(t *testing.T) {
	s := apiservertest.Start(t)
	conn, err := grpc.NewClient(s.GRPCAddr, grpc.WithTransportCredentials(credentials.NewTLS(trust(t, s))))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	tests := map[string]struct {
		authorization string
		want          codes.Code
	}{
		"token":       {authorization: "Bearer " + s.Token, want: codes.OK},
		"wrong token": {authorization: "Bearer wrong", want: codes.Unauthenticated},
		"no token":    {want: codes.Unauthenticated},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			if tc.authorization != "" {
				ctx = metadata.AppendToOutgoingContext(ctx, "authorization", tc.authorization)
			}
			_, err := pb.NewInferenceCacheClient(conn).LookupRoute(ctx, &pb.LookupRouteRequest{ModelId: "m", TokenIds: []uint32{1}})
			if got := status.Code(err); got != tc.want {
				t.Errorf("code %v, want %v: %v", got, tc.want, err)
			}
		})
	}
	t.Run("health", func(t *testing.T) {
		health := grpc_health_v1.NewHealthClient(conn)
		if _, err := health.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{}); status.Code(err) != codes.Unauthenticated {
			t.Errorf("without a token: %v", err)
		}
		ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+s.Token)
		answer, err := health.Check(ctx, &grpc_health_v1.HealthCheckRequest{})
		if err != nil || answer.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
			t.Errorf("health %v, error %v", answer, err)
		}
	})
}

func TestGRPCNeedsTLS(t *testing.T) {
	s := apiservertest.Start(t)
	untrusting := &tls.Config{MinVersion: tls.VersionTLS12}
	conn, err := grpc.NewClient(s.GRPCAddr, grpc.WithTransportCredentials(credentials.NewTLS(untrusting)))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err = grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
	if err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a client without the CA got through: %v", err)
	}
}
