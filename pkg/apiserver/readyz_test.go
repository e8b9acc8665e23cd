/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/server/healthz"
)

// TestReadyzReasons runs the library's own page behind the filter.
func TestReadyzReasons(t *testing.T) {
	check := func(name, reason string) healthz.HealthChecker {
		return healthz.NamedCheck(name, func(*http.Request) error {
			if reason == "" {
				return nil
			}
			return errors.New(reason)
		})
	}
	tests := map[string]struct {
		// open has the filter's checks; the library has them and others.
		open, others []healthz.HealthChecker
		url          string
		status       int
		want         string
	}{
		"all is well": {
			open: []healthz.HealthChecker{check("rights", "")}, others: []healthz.HealthChecker{check("etcd", "")},
			url: "/readyz", status: http.StatusOK, want: "ok",
		},
		"all is well, verbose": {
			open: []healthz.HealthChecker{check("rights", "")}, others: []healthz.HealthChecker{check("etcd", "")},
			url: "/readyz?verbose", status: http.StatusOK, want: "[+]rights ok\n[+]etcd ok\nreadyz check passed\n",
		},
		"own check fails": {
			open: []healthz.HealthChecker{check("rights", "may not list pods")}, others: []healthz.HealthChecker{check("etcd", "")},
			url: "/readyz", status: http.StatusInternalServerError,
			want: "[-]rights failed: may not list pods\n[+]etcd ok\nreadyz check failed\n",
		},
		"own check fails, verbose": {
			open: []healthz.HealthChecker{check("rights", "may not list pods")},
			url:  "/readyz?verbose", status: http.StatusInternalServerError,
			want: "[-]rights failed: may not list pods\nreadyz check failed\n",
		},
		"reason of several lines": {
			open: []healthz.HealthChecker{check("rights", "a\nb")},
			url:  "/readyz", status: http.StatusInternalServerError, want: "[-]rights failed: a b\nreadyz check failed\n",
		},
		"two own checks fail": {
			open: []healthz.HealthChecker{check("rights", "a"), check("preflight", "b")},
			url:  "/readyz", status: http.StatusInternalServerError,
			want: "[-]rights failed: a\n[-]preflight failed: b\nreadyz check failed\n",
		},
		"another check fails": {
			open: []healthz.HealthChecker{check("rights", "")}, others: []healthz.HealthChecker{check("etcd", "no connection to 10.0.0.1")},
			url: "/readyz", status: http.StatusInternalServerError,
			want: "[+]rights ok\n[-]etcd failed: reason withheld\nreadyz check failed\n",
		},
		"excluded": {
			open: []healthz.HealthChecker{check("rights", "may not list pods")},
			url:  "/readyz?exclude=rights", status: http.StatusOK, want: "ok",
		},
		"liveness": {
			open: []healthz.HealthChecker{check("rights", "may not list pods")},
			url:  "/livez", status: http.StatusInternalServerError,
			want: "[-]rights failed: reason withheld\nlivez check failed\n",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			mux := http.NewServeMux()
			all := append(append([]healthz.HealthChecker(nil), tc.open...), tc.others...)
			healthz.InstallReadyzHandler(mux, all...)
			healthz.InstallLivezHandler(mux, all...)
			got := httptest.NewRecorder()
			withReasons(mux, tc.open).ServeHTTP(got, httptest.NewRequestWithContext(t.Context(), http.MethodGet, tc.url, nil))
			if got.Code != tc.status {
				t.Errorf("status %d, want %d", got.Code, tc.status)
			}
			if diff := cmp.Diff(tc.want, got.Body.String()); diff != "" {
				t.Errorf("wrong page (-want +got):\n%s", diff)
			}
			if got := got.Header().Get("Content-Type"); got != "text/plain; charset=utf-8" {
				t.Errorf("content type %q", got)
			}
		})
	}
}
