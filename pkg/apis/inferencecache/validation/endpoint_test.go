/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"net"
	"strings"
	"testing"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/test/mutation"
)

func TestServiceNamespace(t *testing.T) {
	tests := map[string]string{
		"store:6379":                                   "",
		"store.other:6379":                             "",
		"10.0.0.1:6379":                                "",
		"[2001:db8::1]:6379":                           "",
		"svc:6379":                                     "",
		"store.svc:6379":                               "",
		"store.other.svc:6379":                         "other",
		"store.other.svc":                              "other",
		"store.other.svc.:6379":                        "other",
		"store.other.svc.cluster.local:6379":           "other",
		"store.other.svc.cluster.local.:6379":          "other",
		"STORE.Other.SVC.Cluster.Local:6379":           "other",
		"pod-0.store.other.svc:6379":                   "other",
		"lm://store.other.svc:6379/path":               "other",
		"mooncakestore://store.other.svc:6379?a=b.svc": "other",
		"  store.other.svc:6379  ":                     "other",
		"store.other.svc.example.com:6379":             "",
		"store.other.cluster.local:6379":               "",
	}
	for endpoint, want := range tests {
		t.Run(endpoint, func(t *testing.T) {
			if got := serviceNamespace(endpoint); got != want {
				t.Errorf("namespace %q, want %q", got, want)
			}
		})
	}
}

// FuzzEndpoint holds that an accepted endpoint is one that a client can dial:
// it comes apart into a host and a port.
func FuzzEndpoint(f *testing.F) {
	corpus := mutation.New(f, 5000)
	for _, endpoint := range []string{
		"redis:6379", "lm://[2001:db8::1]:1", "LM://a.b.:65535", "a:0", "[::1%lo]:1", "a b:1", ":1", "://:", "::", "[]:1", "a/b:1",
	} {
		corpus.Add(endpoint)
	}
	adapters := permissive()
	corpus.Fuzz(func(t *testing.T, endpoint string) {
		serviceNamespace(endpoint)
		store := storeOf(&inferencecache.RemoteStorage{Provider: inferencecache.StorageProviderLMCacheServer}, adapters)
		if endpointShape(endpoint, store, adapters) != "" {
			return
		}
		address := endpoint
		if _, rest, found := strings.Cut(endpoint, "://"); found {
			address = rest
		}
		if host, port, err := net.SplitHostPort(address); err != nil || host == "" || port == "" {
			t.Errorf("%q is accepted and comes apart into %q and %q: %v", endpoint, host, port, err)
		}
	})
}
