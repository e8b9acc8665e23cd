/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
)

// TestTourWithoutKubectl asks with the demo's own client.
func TestTourWithoutKubectl(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Accept") == tableType:
			_, _ = w.Write([]byte(`{"columnDefinitions":[{"name":"Replica"},{"name":"T1"}],"rows":[{"cells":["vllm-0",46]}]}`))
		case strings.HasSuffix(r.URL.Path, "/vllm/observation"):
			_, _ = w.Write([]byte("kind: CacheBackendObservation\n"))
		default:
			http.Error(w, "no such backend", http.StatusNotFound)
		}
	}))
	t.Cleanup(web.Close)
	var out bytes.Buffer
	tour := &tour{server: &server{api: &rest.Config{Host: web.URL}}, out: &out}
	if err := tour.table(t.Context(), observationPath("vllm"), "get", "cb", "vllm", "--subresource=observation"); err != nil {
		t.Fatal(err)
	}
	if err := tour.observation(t.Context(), "vllm"); err != nil {
		t.Fatal(err)
	}
	want := `
$ kubectl get cb vllm --subresource=observation
REPLICA   T1
vllm-0    46

$ kubectl get cb vllm --subresource=observation -o yaml
kind: CacheBackendObservation
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	if err := tour.observation(t.Context(), "other"); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("an unknown backend gives %v", err)
	}
}
