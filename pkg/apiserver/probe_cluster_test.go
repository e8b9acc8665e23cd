/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver_test

import (
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// unreliable is a listener that hangs up on everybody while it is broken.
type unreliable struct {
	net.Listener
	broken atomic.Bool
}

// Accept implements net.Listener.
func (u *unreliable) Accept() (net.Conn, error) {
	for {
		conn, err := u.Listener.Accept()
		if err != nil || !u.broken.Load() {
			return conn, err
		}
		_ = conn.Close()
	}
}

// TestProbeInACluster probes a server whose gRPC port asks the cluster about everybody
// else, breaks that port, and mends it.
func TestProbeInACluster(t *testing.T) {
	kube := &cluster{}
	o := inCluster(t, kube)
	config, err := o.Config(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	grpc := &unreliable{Listener: config.Extra.GRPCListener}
	config.Extra.GRPCListener = grpc
	ready, done := start(t.Context(), t, config)
	select {
	case <-ready:
	case err := <-done:
		done <- err
		t.Fatalf("server ended before it was ready: %v", err)
	}
	backends := clusterClient(t, o.Recommended.SecureServing.Listener.Addr().String(), "admin").InferencecacheV1alpha1().CacheBackends("default")
	if _, err := backends.Create(t.Context(), backend("a"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	probe := func() *v1alpha1.CacheBackendProbe {
		t.Helper()
		probe, err := backends.Probe(t.Context(), "a", &v1alpha1.CacheBackendProbe{}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return probe
	}

	reviews := kube.engines.reviews.Load()
	if diff := cmp.Diff(goodProbe, stagesOf(probe())); diff != "" {
		t.Errorf("stages (-want +got):\n%s", diff)
	}
	if asked := kube.engines.reviews.Load() - reviews; asked > 0 {
		t.Errorf("the cluster was asked %d times about the token of a probe", asked)
	}

	grpc.broken.Store(true)
	stages := stagesOf(probe())
	if stages[0].Result != v1alpha1.ProbeResultFailed || !strings.Contains(stages[0].Message, "Unavailable: ") ||
		stages[1].Result != v1alpha1.ProbeResultSkipped {
		t.Errorf("a dead port gives %+v", stages)
	}

	grpc.broken.Store(false)
	if diff := cmp.Diff(goodProbe, stagesOf(probe())); diff != "" {
		t.Errorf("stages when the port is back (-want +got):\n%s", diff)
	}
}
