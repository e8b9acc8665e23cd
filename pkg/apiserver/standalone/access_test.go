/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package standalone

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

func TestAuthenticator(t *testing.T) {
	c := load(t, t.TempDir(), time.Now())
	tests := map[string]struct {
		path, authorization string
		// want is the user's name, empty for nobody.
		want string
	}{
		"token":                   {path: "/apis", authorization: "Bearer " + c.Token(), want: AdminUser},
		"token on health":         {path: "/readyz", authorization: "Bearer " + c.Token(), want: AdminUser},
		"wrong token":             {path: "/apis", authorization: "Bearer " + strings.ToLower(c.Token())},
		"prefix of the token":     {path: "/apis", authorization: "Bearer " + c.Token()[:10]},
		"token and more":          {path: "/apis", authorization: "Bearer " + c.Token() + "A"},
		"empty token":             {path: "/apis", authorization: "Bearer "},
		"basic authentication":    {path: "/apis", authorization: "Basic " + c.Token()},
		"nothing":                 {path: "/apis"},
		"nothing on metrics":      {path: "/metrics"},
		"nothing on health":       {path: "/readyz", want: user.Anonymous},
		"nothing below health":    {path: "/readyz/etcd"},
		"nothing on the API root": {path: "/"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, tc.path, nil)
			if tc.authorization != "" {
				r.Header.Set("Authorization", tc.authorization)
			}
			got := ""
			if response, ok, _ := c.Authenticator().AuthenticateRequest(r); ok {
				got = response.User.GetName()
			}
			if got != tc.want {
				t.Errorf("user %q, want %q", got, tc.want)
			}
		})
	}
}

func TestAuthorizer(t *testing.T) {
	a, err := Authorizer()
	if err != nil {
		t.Fatal(err)
	}
	get := authorizer.AttributesRecord{Verb: "get", ResourceRequest: true, APIGroup: "inferencecache.io", Resource: "cachebackends"}
	health := authorizer.AttributesRecord{Verb: "get", Path: "/readyz"}
	with := func(r authorizer.AttributesRecord, name string, groups ...string) authorizer.AttributesRecord {
		r.User = &user.DefaultInfo{Name: name, Groups: groups}
		return r
	}
	tests := map[string]struct {
		attributes authorizer.AttributesRecord
		want       authorizer.Decision
	}{
		"administrator":       {attributes: with(get, AdminUser), want: authorizer.DecisionAllow},
		"loopback client":     {attributes: with(get, user.APIServerUser, user.SystemPrivilegedGroup), want: authorizer.DecisionAllow},
		"anonymous":           {attributes: with(get, user.Anonymous, user.AllUnauthenticated), want: authorizer.DecisionNoOpinion},
		"someone":             {attributes: with(get, "someone", user.AllAuthenticated), want: authorizer.DecisionNoOpinion},
		"nobody":              {attributes: get, want: authorizer.DecisionNoOpinion},
		"anonymous on health": {attributes: with(health, user.Anonymous), want: authorizer.DecisionAllow},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, _, err := a.Authorize(t.Context(), tc.attributes)
			if err != nil || got != tc.want {
				t.Errorf("decision %v, error %v, want %v", got, err, tc.want)
			}
		})
	}
}

func TestRequireLoopback(t *testing.T) {
	tests := map[string]struct {
		host string
		good bool
	}{
		"IPv4":                 {host: "127.0.0.1", good: true},
		"IPv4 of the same net": {host: "127.9.9.9", good: true},
		"IPv6":                 {host: "::1", good: true},
		"name":                 {host: "localhost", good: true},
		"all interfaces":       {host: ""},
		"unspecified":          {host: "0.0.0.0"},
		"unspecified IPv6":     {host: "::"},
		"private address":      {host: "192.168.0.1"},
		"other name":           {host: "example.org"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := RequireLoopback("--bind-address", tc.host)
			if (err == nil) != tc.good {
				t.Fatalf("error %v, want good %t", err, tc.good)
			}
			if err != nil && !strings.HasPrefix(err.Error(), "--bind-address: standalone mode serves loopback addresses only") {
				t.Errorf("unclear error %q", err)
			}
		})
	}
}

func TestBanner(t *testing.T) {
	var out bytes.Buffer
	b := Banner{
		Version: "v1", DataDir: "/data", Kubeconfig: "/data/kubeconfig", TokenFile: "/data/token", CAFile: "/data/ca.crt",
		APIAddress: "127.0.0.1:6443", GRPCAddress: "127.0.0.1:9090",
	}
	if err := b.Write(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"https://127.0.0.1:6443", "127.0.0.1:9090", "export KUBECONFIG=/data/kubeconfig",
		"namespaces", "quota", "webhooks", "RBAC", "garbage collection",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("banner does not say %q:\n%s", want, out.String())
		}
	}
	out.Reset()
	b.ExternalEtcd = true
	if err := b.Write(&out); err != nil {
		t.Fatal(err)
	}
	if want := "objects are in the given etcd"; !strings.Contains(out.String(), want) {
		t.Errorf("banner does not say %q:\n%s", want, out.String())
	}
	if diff := cmp.Diff(1, strings.Count(out.String(), "export KUBECONFIG")); diff != "" {
		t.Errorf("banner repeats itself (-want +got):\n%s", diff)
	}
}
