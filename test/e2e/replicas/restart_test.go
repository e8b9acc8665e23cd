//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package replicas

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/generated/clientset/versioned"
	"inferencecache.io/inference-cache/pkg/generated/informers/externalversions"
	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/test/aggregated"
	"inferencecache.io/inference-cache/test/engine/sim"
	"inferencecache.io/inference-cache/test/programs"
)

const (
	serverName = aggregated.GRPCName
	// clusterIndex is the only CacheIndex.
	clusterIndex = "cluster-default"
)

// addresses are where routers find the replicas.
func addresses() []string {
	var all []string
	for _, r := range environment.Installation.Replicas() {
		all = append(all, r.GRPCAddress())
	}
	return all
}

// TestRollingRestart restarts both replicas while everybody is busy.
func TestRollingRestart(t *testing.T) {
	ctx := t.Context()
	client := newClient(t)
	f := prepare(t, client)
	engines := []*engine{startEngine(t, client, f, 0), startEngine(t, client, f, 1)}
	prompts := learn(t, engines)
	for _, e := range engines {
		if err := e.awaitReported(ctx, 0, 1); err != nil {
			t.Fatal(err)
		}
	}
	// A young index cannot tell whether it has heard of every engine, and says so: an
	// upgrade right after an upgrade is not what is tested.
	for _, r := range environment.Installation.Replicas() {
		if err := awaitComplete(t, r, f); err != nil {
			t.Fatal(err)
		}
	}
	seen := follow(t)
	l := startLoad(t, f, engines, prompts)
	for n, r := range environment.Installation.Replicas() {
		started := time.Now()
		if err := r.Stop(ctx); err != nil {
			t.Fatal(err)
		}
		stopped := time.Since(started)
		if err := r.Start(ctx); err != nil {
			t.Fatal(err)
		}
		ready := time.Since(started)
		if err := awaitComplete(t, r, f); err != nil {
			t.Fatal(err)
		}
		t.Logf("replica %d: stopped after %v, ready again after %v, complete after %v", n,
			stopped.Round(time.Millisecond), ready.Round(time.Millisecond), time.Since(started).Round(time.Millisecond))
	}
	l.end()
	l.verify(t)
	// What was reported while a replica was away is known to both by now or soon.
	for _, e := range engines {
		if err := e.awaitReported(ctx, 0, 1); err != nil {
			t.Error(err)
		}
	}
	if err := environment.Installation.Await(ctx); err != nil {
		t.Error(err)
	}
	seen.expectNews(t, engines[0])
}

// awaitComplete waits until a replica tells routers that it knows every engine. The
// manifests leave it about as much time before the next one is stopped.
func awaitComplete(t *testing.T, r *aggregated.Replica, f files) error {
	t.Helper()
	token, err := os.ReadFile(f.router())
	if err != nil {
		return err
	}
	conn, err := environment.Installation.Dial(t.Context(), r, string(token))
	if err != nil {
		return err
	}
	defer conn.Close()
	return programs.Poll(t.Context(), func() error {
		ctx, cancel := context.WithTimeout(t.Context(), programs.CallTimeout)
		defer cancel()
		answer, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{Service: pb.InferenceCache_ServiceDesc.ServiceName})
		if err == nil && answer.GetStatus() != healthpb.HealthCheckResponse_SERVING {
			err = fmt.Errorf("the index is %s", answer.GetStatus())
		}
		return err
	})
}

// follower watches the live index through the cluster, as a controller does.
type follower struct {
	get func() (*v1alpha1.CacheIndex, error)
}

func follow(t *testing.T) follower {
	t.Helper()
	client, err := versioned.NewForConfig(environment.Cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	factory := externalversions.NewSharedInformerFactory(client, 0)
	lister := factory.Inferencecache().V1alpha1().CacheIndices().Lister()
	factory.StartWithContext(t.Context())
	for kind, synced := range factory.WaitForCacheSync(t.Context().Done()) {
		if !synced {
			t.Fatalf("the informer of %v does not sync", kind)
		}
	}
	return follower{get: func() (*v1alpha1.CacheIndex, error) { return lister.Get(clusterIndex) }}
}

// expectNews holds that the watch survived the restart of whom it was connected to:
// it still hears of what engines do.
func (f follower) expectNews(t *testing.T, e *engine) {
	t.Helper()
	before, err := f.get()
	if err != nil {
		t.Fatal(err)
	}
	tokens := make([]uint32, 4000)
	for i := range tokens {
		tokens[i] = uint32(1_000_000 + i)
	}
	if _, err := e.Request(t.Context(), sim.Request{Tokens: tokens, MaxTokens: 1}); err != nil {
		t.Fatal(err)
	}
	err = programs.Poll(t.Context(), func() error {
		now, err := f.get()
		if err != nil {
			return err
		}
		if now.ResourceVersion == before.ResourceVersion {
			return fmt.Errorf("the informer still has version %s", now.ResourceVersion)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestForeignVersion goes on watching at one replica from what the other one listed.
// The live index of each is its own, so that this must be refused, and a client
// lists anew; going on silently would lose what happened.
func TestForeignVersion(t *testing.T) {
	i := environment.Installation
	var clients []versioned.Interface
	for _, r := range i.Replicas() {
		config, err := i.ConfigOf(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		client, err := versioned.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, client)
	}
	list, err := clients[0].InferencecacheV1alpha1().CacheIndices().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		client  versioned.Interface
		expired bool
	}{
		"its own":   {client: clients[0]},
		"the other": {client: clients[1], expired: true},
	} {
		t.Run(name, func(t *testing.T) {
			err := firstError(t.Context(), test.client, list.ResourceVersion)
			if got := apierrors.IsResourceExpired(err) || apierrors.IsGone(err); got != test.expired || err != nil && !got {
				t.Errorf("got the error %v, want that the version has expired: %t", err, test.expired)
			}
		})
	}
}

// firstError watches until the first event and returns it if it is an error. A
// bookmark or a change says that the watch goes on; a watch at rest is quiet until
// the server ends it.
func firstError(ctx context.Context, client versioned.Interface, version string) error {
	w, err := client.InferencecacheV1alpha1().CacheIndices().Watch(ctx, metav1.ListOptions{
		ResourceVersion: version, TimeoutSeconds: ptr.To[int64](1),
	})
	if err != nil {
		return err
	}
	defer w.Stop()
	event, open := <-w.ResultChan()
	if !open {
		return nil
	}
	if event.Type == watch.Error {
		return apierrors.FromObject(event.Object)
	}
	if !slices.Contains([]watch.EventType{watch.Added, watch.Modified, watch.Bookmark}, event.Type) {
		return errors.New("the watch begins with " + string(event.Type))
	}
	return nil
}
