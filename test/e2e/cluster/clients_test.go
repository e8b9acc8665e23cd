//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	applyv1alpha1 "inferencecache.io/inference-cache/pkg/generated/applyconfiguration/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/generated/informers/externalversions"
)

// clusterIndex is the only CacheIndex.
const clusterIndex = "cluster-default"

func newBackend(name string) *v1alpha1.CacheBackend {
	return &v1alpha1.CacheBackend{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1alpha1.CacheBackendSpec{Runtime: v1alpha1.RuntimeVLLM},
	}
}

// TestGeneratedClients uses what generators have made from our types: informers of
// all kinds that can be watched, live ones too, and the virtual subresources.
func TestGeneratedClients(t *testing.T) {
	t.Parallel()
	clients := newClients(t)
	namespace := clients.newNamespace(t)
	backends := clients.ours.InferencecacheV1alpha1().CacheBackends(namespace)

	factory := externalversions.NewSharedInformerFactory(clients.ours, 0)
	kinds := factory.Inferencecache().V1alpha1()
	lister, indices := kinds.CacheBackends().Lister(), kinds.CacheIndices().Lister()
	kinds.CachePolicies().Informer()
	kinds.CacheTenants().Informer()
	factory.StartWithContext(t.Context())
	for kind, synced := range factory.WaitForCacheSync(t.Context().Done()) {
		if !synced {
			t.Errorf("the informer of %v does not sync", kind)
		}
	}
	if _, err := indices.Get(clusterIndex); err != nil {
		t.Error(err)
	}
	created, err := backends.Create(t.Context(), newBackend("a"), createOptions)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		seen, err := lister.CacheBackends(namespace).Get("a")
		if err == nil {
			if diff := cmp.Diff(created, seen); diff != "" {
				t.Errorf("created (-) and seen by the informer (+):\n%s", diff)
			}
		}
		return err
	})
	observation, err := backends.GetObservation(t.Context(), "a", v1alpha1.CacheBackendObservationOptions{})
	if err != nil || observation.UID != created.UID {
		t.Errorf("the observation has UID %q, %v, want %q", observation.UID, err, created.UID)
	}
	snapshot, err := backends.GetSnapshot(t.Context(), "a", v1alpha1.CacheBackendSnapshotOptions{})
	if err != nil || snapshot.UID != created.UID {
		t.Errorf("the snapshot has UID %q, %v, want %q", snapshot.UID, err, created.UID)
	}
	probe, err := backends.Probe(t.Context(), "a", &v1alpha1.CacheBackendProbe{ObjectMeta: metav1.ObjectMeta{UID: created.UID}}, createOptions)
	if err != nil || probe.UID != created.UID || !sound(probe) {
		t.Errorf("the probe has UID %q and status %+v, %v, want %q", probe.UID, probe.Status, err, created.UID)
	}
	lookup, err := clients.ours.InferencecacheV1alpha1().RouteLookups(namespace).Create(t.Context(),
		&v1alpha1.RouteLookup{Spec: v1alpha1.RouteLookupSpec{ModelID: "none", TokenIDs: []int64{1}}}, createOptions)
	if err != nil || lookup.Status.Reason == "" {
		t.Errorf("the lookup has status %+v, %v", lookup.Status, err)
	}
}

// TestControllerRuntime uses the library that controllers are written with: its
// client, its apply, its subresources and its cache.
func TestControllerRuntime(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	ctrllog.SetLogger(logr.Discard())
	namespace := newClients(t).newNamespace(t)
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c, err := client.New(environment.Cluster.Config(), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	reader := startCache(t, scheme)
	key := client.ObjectKey{Namespace: namespace, Name: "a"}

	wanted := applyv1alpha1.CacheBackend(key.Name, key.Namespace).WithSpec(
		applyv1alpha1.CacheBackendSpec().WithRuntime(v1alpha1.RuntimeVLLM).WithReplicas(3))
	if err := c.Apply(ctx, wanted, client.FieldOwner("one")); err != nil {
		t.Fatal(err)
	}
	backend := &v1alpha1.CacheBackend{}
	if err := c.Get(ctx, key, backend); err != nil || backend.Spec.Replicas == nil || *backend.Spec.Replicas != 3 {
		t.Fatalf("got the replicas %v, %v, want 3", backend.Spec.Replicas, err)
	}
	backend.Status.Endpoint = "a:1"
	if err := c.Status().Update(ctx, backend); err != nil {
		t.Error(err)
	}
	eventually(t, func() error { return awaitEndpoint(ctx, reader, key, "a:1") })

	observation := &v1alpha1.CacheBackendObservation{}
	if err := c.SubResource("observation").Get(ctx, backend, observation); err != nil || observation.UID != backend.UID {
		t.Errorf("the observation has UID %q, %v, want %q", observation.UID, err, backend.UID)
	}
	probe := &v1alpha1.CacheBackendProbe{}
	if err := c.SubResource("probe").Create(ctx, backend, probe); err != nil || probe.UID != backend.UID || !sound(probe) {
		t.Errorf("the probe has UID %q and status %+v, %v, want %q", probe.UID, probe.Status, err, backend.UID)
	}
	if err := reader.Get(ctx, client.ObjectKey{Name: clusterIndex}, &v1alpha1.CacheIndex{}); err != nil {
		t.Error(err)
	}
	if err := c.Delete(ctx, backend); err != nil {
		t.Error(err)
	}
	eventually(t, func() error { return isGone(reader.Get(ctx, key, &v1alpha1.CacheBackend{})) })
}

// sound reports whether a probe found nothing wrong.
func sound(probe *v1alpha1.CacheBackendProbe) bool {
	return len(probe.Status.Stages) == 2 && !slices.ContainsFunc(probe.Status.Stages, func(s v1alpha1.ProbeStage) bool {
		return s.Result != v1alpha1.ProbeResultOK
	})
}

func awaitEndpoint(ctx context.Context, reader client.Reader, key client.ObjectKey, want string) error {
	seen := &v1alpha1.CacheBackend{}
	if err := reader.Get(ctx, key, seen); err != nil {
		return err
	}
	if seen.Status.Endpoint != want {
		return fmt.Errorf("the cache has endpoint %q, want %q", seen.Status.Endpoint, want)
	}
	return nil
}

// startCache runs the cache of a manager until the test ends.
func startCache(t *testing.T, scheme *runtime.Scheme) cache.Cache {
	t.Helper()
	c, err := cache.New(environment.Cluster.Config(), cache.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the cache ended with %v", err)
		}
	})
	syncing, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	if !c.WaitForCacheSync(syncing) {
		t.Fatal("the cache does not sync")
	}
	return c
}
