/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/client-go/rest"
)

func TestClusterNamespaces(t *testing.T) {
	answers := map[string]int{"there": http.StatusOK, "absent": http.StatusNotFound, "secret": http.StatusForbidden, "broken": http.StatusInternalServerError}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for name, code := range answers {
			if r.URL.Path != "/api/v1/namespaces/"+name {
				continue
			}
			w.WriteHeader(code)
			if code == http.StatusOK {
				fmt.Fprintf(w, `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":%q}}`, name)
			}
		}
	}))
	defer server.Close()
	namespaces, err := ClusterNamespaces(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}})
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ exists, fails bool }{
		"there":  {exists: true},
		"absent": {},
		"secret": {fails: true},
		"broken": {fails: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			exists, err := namespaces.NamespaceExists(t.Context(), name)
			if exists != test.exists || (err != nil) != test.fails {
				t.Errorf("exists is %t, error %v", exists, err)
			}
		})
	}
}
