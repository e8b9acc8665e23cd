//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"context"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// TestOutage stops the server. Its own group answers 503 then, and everything else
// goes on, but for namespaces: while nobody knows what of ours is in them, the
// cluster must not call them deleted. It needs nobody's help when the server is back.
func TestOutage(t *testing.T) {
	ctx, clients, i := t.Context(), newClients(t), environment.Installation
	full, empty, kept := clients.newNamespace(t), clients.newNamespace(t), clients.newNamespace(t)
	clients.fill(t, full)
	server := i.Replicas()[0]
	started := time.Now()
	after := func() time.Duration { return time.Since(started).Round(time.Millisecond) }
	if err := server.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	t.Logf("the server ended %v after it was told to", after())
	t.Cleanup(func() {
		if !server.Running() {
			if err := server.Start(context.WithoutCancel(ctx)); err != nil {
				t.Fatal(err)
			}
		}
	})
	if err := i.AwaitAvailable(ctx, false); err != nil {
		t.Fatal(err)
	}
	t.Logf("the cluster knew it after %v", after())
	_, err := clients.ours.InferencecacheV1alpha1().CacheBackends(kept).Get(ctx, "any", getOptions)
	if !apierrors.IsServiceUnavailable(err) {
		t.Errorf("got the error %v, want code %d", err, http.StatusServiceUnavailable)
	}
	if _, err := clients.CoreV1().ConfigMaps(kept).Create(ctx, newConfigMap("any"), createOptions); err != nil {
		t.Errorf("the rest of the cluster suffers: %v", err)
	}
	for _, namespace := range []string{full, empty} {
		clients.deleteNamespace(t, namespace)
		clients.awaitCondition(t, namespace, corev1.NamespaceDeletionDiscoveryFailure)
	}

	started = time.Now()
	if err := server.Start(ctx); err != nil {
		t.Fatal(err)
	}
	t.Logf("the server was ready %v after its start", after())
	if err := i.Await(ctx); err != nil {
		t.Fatal(err)
	}
	t.Logf("its group was available after %v", after())
	for _, namespace := range []string{empty, full} {
		clients.awaitNoNamespace(t, namespace)
	}
	t.Logf("the stuck namespaces were gone after %v", after())
}
