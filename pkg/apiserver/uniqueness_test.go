/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver_test

import (
	"fmt"
	"path"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// TestUniqueOverTwoServers creates at once through two servers that share an etcd.
func TestUniqueOverTwoServers(t *testing.T) {
	etcd := startEtcd(t)
	servers := []dynamic.Interface{etcd.startServer(), etcd.startServer()}
	const writers = 50

	t.Run("policies", func(t *testing.T) {
		winners := race(t, writers, func(i int) (*unstructured.Unstructured, error) {
			client := servers[i%2].Resource(policyResource).Namespace("team")
			return ways[i/2%len(ways)](t.Context(), client, newPolicy(fmt.Sprintf("p%d", i)), nil)
		})
		if len(winners) != 1 {
			t.Fatalf("%d policies in one namespace", len(winners))
		}
		etcd.mustReserve(t, map[string]string{"cachepolicies.inferencecache.io/namespace/team": "team/" + winners[0].GetName()})
		must(t, servers[1].Resource(policyResource).Namespace("team").Delete(t.Context(), winners[0].GetName(), metav1.DeleteOptions{}))
		etcd.mustReserve(t, map[string]string{})
	})
	t.Run("tenants", func(t *testing.T) {
		winners := race(t, writers, func(i int) (*unstructured.Unstructured, error) {
			client := servers[i%2].Resource(tenantResource).Namespace(fmt.Sprintf("team-%d", i%5))
			return ways[i/2%len(ways)](t.Context(), client, newTenant(fmt.Sprintf("t%d", i), "acme"), nil)
		})
		if len(winners) != 1 {
			t.Fatalf("%d tenants with one tenantID", len(winners))
		}
		owner := path.Join(winners[0].GetNamespace(), winners[0].GetName())
		etcd.mustReserve(t, map[string]string{"cachetenants.inferencecache.io/tenantID/acme": owner})
		must(t, servers[0].Resource(tenantResource).Namespace(winners[0].GetNamespace()).Delete(t.Context(), winners[0].GetName(), metav1.DeleteOptions{}))
		etcd.mustReserve(t, map[string]string{})
	})
	t.Run("changes of tenants", func(t *testing.T) {
		client := func(i int) dynamic.ResourceInterface {
			return servers[i%2].Resource(tenantResource).Namespace("changes")
		}
		want := map[string]string{}
		for i := range writers / 2 {
			name := fmt.Sprintf("t%d", i)
			createObject(t, client(i), newTenant(name, "of-"+name))
			want["cachetenants.inferencecache.io/tenantID/of-"+name] = "changes/" + name
		}
		winners := race(t, writers/2, func(i int) (*unstructured.Unstructured, error) {
			patch := []byte(`{"spec":{"tenantID":"wanted"}}`)
			return client(i).Patch(t.Context(), fmt.Sprintf("t%d", i), types.MergePatchType, patch, metav1.PatchOptions{})
		})
		if len(winners) != 1 {
			t.Fatalf("%d tenants changed to one tenantID", len(winners))
		}
		name := winners[0].GetName()
		delete(want, "cachetenants.inferencecache.io/tenantID/of-"+name)
		want["cachetenants.inferencecache.io/tenantID/wanted"] = "changes/" + name
		etcd.mustReserve(t, want)
		must(t, client(1).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
		etcd.mustReserve(t, map[string]string{})
	})
}

// TestUniqueErrors holds what users read.
func TestUniqueErrors(t *testing.T) {
	server := startEtcd(t).startServer()
	in := func(namespace string) func(string) dynamic.ResourceInterface {
		return func(kind string) dynamic.ResourceInterface {
			return server.Resource(v1alpha1.SchemeGroupVersion.WithResource(kind)).Namespace(namespace)
		}
	}
	here, elsewhere := in("team-a"), in("team-b")
	createObject(t, here("cachepolicies"), newPolicy("first"))
	createObject(t, here("cachetenants"), newTenant("first", "acme"))
	createObject(t, elsewhere("cachebackends"), object("CacheBackend", "b", map[string]any{"runtime": "VLLM"}))
	createObject(t, elsewhere("cachetenants"), newTenant("own", "team-b"))
	tests := map[string]struct {
		client dynamic.ResourceInterface
		obj    *unstructured.Unstructured
		want   string
	}{
		"second policy": {
			client: here("cachepolicies"), obj: newPolicy("second"),
			want: `CachePolicy.inferencecache.io "second" is invalid: metadata.namespace: Duplicate value: "team-a": a namespace has at most one CachePolicy, and this one has "first"; change that one, or delete it first`,
		},
		"same tenantID in the namespace": {
			client: here("cachetenants"), obj: newTenant("second", "acme"),
			want: `CacheTenant.inferencecache.io "second" is invalid: spec.tenantID: Duplicate value: "acme": CacheTenant "first" of this namespace has it; change or delete that one, or choose another tenantID`,
		},
		"same tenantID elsewhere names nobody": {
			client: elsewhere("cachetenants"), obj: newTenant("second", "acme"),
			want: `CacheTenant.inferencecache.io "second" is invalid: spec.tenantID: Duplicate value: "acme": a CacheTenant in another namespace has it; choose another tenantID, or ask who may list the cachetenants of all namespaces to find its owner`,
		},
		"name of a namespace": {
			client: here("cachetenants"), obj: newTenant("second", "team-b"),
			want: `CacheTenant.inferencecache.io "second" is invalid: spec.tenantID: Invalid value: "team-b": is the name of another namespace; choose another tenantID, or create the CacheTenant in namespace "team-b"`,
		},
		"name that is there":        {client: here("cachetenants"), obj: newTenant("first", "umbrella"), want: `cachetenants.inferencecache.io "first" already exists`},
		"the same object once more": {client: here("cachepolicies"), obj: newPolicy("first"), want: `cachepolicies.inferencecache.io "first" already exists`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, dryRun := range [][]string{nil, {metav1.DryRunAll}} {
				_, err := test.client.Create(t.Context(), test.obj, metav1.CreateOptions{DryRun: dryRun})
				if err == nil {
					t.Fatal("it was created")
				}
				if diff := cmp.Diff(test.want, err.Error()); diff != "" {
					t.Errorf("error with dry run %v (-want +got):\n%s", dryRun, diff)
				}
			}
		})
	}
}

// TestReservationsFollowObjects looks into etcd after each step of an object's life.
func TestReservationsFollowObjects(t *testing.T) {
	etcd := startEtcd(t)
	server := etcd.startServer()
	tenants := server.Resource(tenantResource).Namespace("team")
	key := func(id string) string { return "cachetenants.inferencecache.io/tenantID/" + id }
	dry := []string{metav1.DryRunAll}
	patch := func(name, text string, dryRun ...string) error {
		_, err := tenants.Patch(t.Context(), name, types.MergePatchType, []byte(text), metav1.PatchOptions{DryRun: dryRun})
		return err
	}

	for i, way := range ways {
		if _, err := way(t.Context(), tenants, newTenant("dry", "x"), dry); err != nil {
			t.Errorf("dry creation %d: %v", i, err)
		}
		etcd.mustReserve(t, map[string]string{})
	}
	createObject(t, tenants, newTenant("a", "x"))
	for i, way := range ways {
		if _, err := way(t.Context(), tenants, newTenant("dry", "x"), dry); !apierrors.IsInvalid(err) {
			t.Errorf("dry creation %d of what is there: %v, want that it is invalid", i, err)
		}
	}
	must(t, patch("a", `{"spec":{"tenantID":"y"}}`, dry...))
	must(t, tenants.Delete(t.Context(), "a", metav1.DeleteOptions{DryRun: dry}))
	etcd.mustReserve(t, map[string]string{key("x"): "team/a"})

	// What validation refuses reserves nothing.
	if err := patch("a", `{"spec":{"tenantID":"y","isolationMode":"None"}}`); !apierrors.IsInvalid(err) {
		t.Errorf("invalid change: %v", err)
	}
	etcd.mustReserve(t, map[string]string{key("x"): "team/a"})
	must(t, patch("a", `{"spec":{"tenantID":"y"}}`))
	etcd.mustReserve(t, map[string]string{key("y"): "team/a"})

	// Held by a finalizer, an object keeps its value until it is gone.
	must(t, patch("a", `{"metadata":{"finalizers":["example.com/hold"]}}`))
	must(t, tenants.Delete(t.Context(), "a", metav1.DeleteOptions{}))
	if _, err := tenants.Create(t.Context(), newTenant("b", "y"), metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("value of an object that is being deleted: %v, want that it is invalid", err)
	}
	etcd.mustReserve(t, map[string]string{key("y"): "team/a"})
	must(t, patch("a", `{"metadata":{"finalizers":null}}`))
	etcd.mustReserve(t, map[string]string{})
	createObject(t, tenants, newTenant("b", "y"))
	createObject(t, tenants, newTenant("c", "z"))
	must(t, tenants.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	etcd.mustReserve(t, map[string]string{})
}

// TestRestartRepairsReservations starts a server on what a killed one has left.
func TestRestartRepairsReservations(t *testing.T) {
	etcd := startEtcd(t)
	const owned, lost = "cachetenants.inferencecache.io/tenantID/owned", "cachetenants.inferencecache.io/tenantID/lost"
	first := etcd.startServer()
	createObject(t, first.Resource(tenantResource).Namespace("team"), newTenant("a", "owned"))
	want := map[string]string{owned: "team/a"}
	etcd.mustReserve(t, want)
	key := func(name string) string { return reservations + path.Dir(name) + "/holdings/" + path.Base(name) }
	_, err := etcd.client.Delete(t.Context(), key(owned))
	must(t, err)
	_, err = etcd.client.Put(t.Context(), key(lost), `{"namespace":"team","name":"never-written"}`)
	must(t, err)
	etcd.startServer()
	etcd.mustReserve(t, want)
}
