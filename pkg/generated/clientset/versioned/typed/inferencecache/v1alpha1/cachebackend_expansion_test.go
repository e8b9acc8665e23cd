/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/generated/clientset/versioned"
)

// newClient returns a client of a server that answers everything with answer,
// and the request lines that it was asked.
func newClient(t *testing.T, answer runtime.Object) (versioned.Interface, *[]string) {
	t.Helper()
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		asked = append(asked, request.Method+" "+request.URL.RequestURI())
		response.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(response).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	client, err := versioned.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return client, &asked
}

func TestGetObservation(t *testing.T) {
	want := &v1alpha1.CacheBackendObservation{
		TypeMeta:   metav1.TypeMeta{Kind: "CacheBackendObservation", APIVersion: v1alpha1.SchemeGroupVersion.String()},
		ObjectMeta: metav1.ObjectMeta{Name: "b", Namespace: "ns"},
		ObservedBy: "server-0",
	}
	client, asked := newClient(t, want)
	got, err := client.InferencecacheV1alpha1().CacheBackends("ns").GetObservation(t.Context(), "b",
		v1alpha1.CacheBackendObservationOptions{Limit: 5, Tier: "T2", Model: "a/b"})
	if err != nil {
		t.Fatal(err)
	}
	want.TypeMeta = metav1.TypeMeta{} // The typed decoder leaves it out.
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("observation (-want +got):\n%s", diff)
	}
	wantAsked := []string{"GET /apis/inferencecache.io/v1alpha1/namespaces/ns/cachebackends/b/observation?limit=5&model=a%2Fb&tier=T2"}
	if diff := cmp.Diff(wantAsked, *asked); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestGetSnapshot(t *testing.T) {
	want := &v1alpha1.CacheBackendSnapshot{
		TypeMeta: metav1.TypeMeta{Kind: "CacheBackendSnapshot", APIVersion: v1alpha1.SchemeGroupVersion.String()},
		Items: []v1alpha1.SnapshotItem{{
			Hash: "00112233aabbccdd", Tokens: 32, Tier: v1alpha1.CacheTierT1,
			Replicas: []v1alpha1.SnapshotReplica{{Pod: "p", Rank: 1}},
		}},
		Continue: "next",
	}
	client, asked := newClient(t, want)
	got, err := client.InferencecacheV1alpha1().CacheBackends("ns").GetSnapshot(t.Context(), "b",
		v1alpha1.CacheBackendSnapshotOptions{Continue: "this"})
	if err != nil {
		t.Fatal(err)
	}
	want.TypeMeta = metav1.TypeMeta{} // The typed decoder leaves it out.
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("snapshot (-want +got):\n%s", diff)
	}
	wantAsked := []string{"GET /apis/inferencecache.io/v1alpha1/namespaces/ns/cachebackends/b/snapshot?continue=this"}
	if diff := cmp.Diff(wantAsked, *asked); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// TestPlurals holds the paths that the generator would get wrong by its own
// rules of English.
func TestPlurals(t *testing.T) {
	client, asked := newClient(t, &v1alpha1.CacheIndex{
		TypeMeta: metav1.TypeMeta{Kind: "CacheIndex", APIVersion: v1alpha1.SchemeGroupVersion.String()},
	})
	if _, err := client.InferencecacheV1alpha1().CacheIndices().Get(t.Context(), v1alpha1.CacheIndexName, metav1.GetOptions{}); err != nil {
		t.Fatal(err)
	}
	want := []string{"GET /apis/inferencecache.io/v1alpha1/cacheindices/cluster-default"}
	if diff := cmp.Diff(want, *asked); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}
