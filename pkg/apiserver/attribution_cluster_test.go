/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/generated/clientset/versioned"
	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// port is the gRPC port of a server in a cluster, with clients of its API.
type port struct {
	pb.InferenceCacheClient

	kube *cluster
	api  versioned.Interface
}

// startPort runs a server in a cluster and connects to its gRPC port.
func startPort(t *testing.T, kube *cluster) *port {
	t.Helper()
	o := inCluster(t, kube)
	config, err := o.Config(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ready, done := start(t.Context(), t, config)
	select {
	case <-ready:
	case err := <-done:
		done <- err
		t.Fatalf("server ended before it was ready: %v", err)
	}
	conn, err := grpc.NewClient(config.Extra.GRPCListener.Addr().String(),
		grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{InsecureSkipVerify: true}))) //nolint:gosec // the fixture's certificate has no names
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &port{
		InferenceCacheClient: pb.NewInferenceCacheClient(conn), kube: kube,
		api: clusterClient(t, o.Recommended.SecureServing.Listener.Addr().String(), "admin"),
	}
}

// backend makes a CacheBackend in namespace default and returns its UID.
func (p *port) backend(t *testing.T, name string, matchLabels map[string]string) string {
	t.Helper()
	b := &v1alpha1.CacheBackend{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.CacheBackendSpec{Runtime: "VLLM"}}
	if matchLabels != nil {
		b.Spec.EngineSelector = &v1alpha1.EngineSelector{MatchLabels: matchLabels}
	}
	made, err := p.api.InferencecacheV1alpha1().CacheBackends("default").Create(t.Context(), b, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return string(made.UID)
}

// hello is the hello of a Pod in namespace default.
func hello(pod string) *pb.Hello {
	return &pb.Hello{
		Holder: &pb.Holder{Namespace: "default", Pod: pod}, TenantId: "default", ModelId: "m", HashScheme: "vllm", Epoch: 1,
	}
}

// open says hello and returns the stream, or why it was refused.
func (p *port) open(ctx context.Context, token string, h *pb.Hello) (pb.InferenceCache_ReportClient, error) {
	stream, err := p.Report(metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token))
	if err != nil {
		return nil, err
	}
	_ = stream.Send(&pb.ReportRequest{Message: &pb.ReportRequest_Hello{Hello: h}}) // receiving tells why it fails
	response, err := stream.Recv()
	if err == nil && response.GetHello() == nil {
		err = fmt.Errorf("got %v, want a hello", response)
	}
	return stream, err
}

// replicas returns how many replicas the observation of a backend shows.
func (p *port) replicas(ctx context.Context, name string) (int, error) {
	var observation v1alpha1.CacheBackendObservation
	err := p.api.InferencecacheV1alpha1().RESTClient().Get().Namespace("default").Resource("cachebackends").Name(name).
		SubResource("observation").Do(ctx).Into(&observation)
	return len(observation.Replicas), err
}

func TestReportsInACluster(t *testing.T) {
	kube := &cluster{}
	p := startPort(t, kube)
	wired := p.backend(t, "wired", nil)
	p.backend(t, "selecting-b", map[string]string{"app": "llm"})
	p.backend(t, "selecting-a", map[string]string{"app": "llm"})
	p.backend(t, "empty", map[string]string{})
	annotated := func(by, uid string) map[string]string {
		return map[string]string{"inferencecache.io/injected-by": by, "inferencecache.io/injected-by-uid": uid}
	}
	llm := map[string]string{"app": "llm", "more": "labels"}
	kube.engines.set("default/wired", "u1", llm, annotated("default/wired", wired))
	kube.engines.set("default/selected", "u1", llm, nil)
	kube.engines.set("default/forged", "u1", llm, annotated("default/wired", "another"))
	kube.engines.set("default/foreign", "u1", nil, annotated("other/wired", wired))
	kube.engines.set("default/plain", "u1", nil, nil)
	kube.engines.set("other/wired", "u1", nil, nil)

	const ours = "inferencecache.io default/"
	tests := map[string]struct {
		// pod is that of the hello, which names a backend of namespace default.
		token, pod, backend string
		change              func(h *pb.Hello)
		code                codes.Code
		// want is the refusal, or the backend that the session counts for.
		want string
	}{
		"wired":                         {token: ours + "wired/u1", pod: "wired", want: "wired"},
		"ordinary token":                {token: "own default/wired/u1", pod: "wired", want: "wired"},
		"wired, named":                  {token: ours + "wired/u1", pod: "wired", backend: "wired", want: "wired"},
		"any rank":                      {token: ours + "wired/u1", pod: "wired", change: func(h *pb.Hello) { h.Holder.Rank = 7 }, want: "wired"},
		"selected, the first by name":   {token: ours + "selected/u1", pod: "selected", want: "selecting-a"},
		"forged UID":                    {token: ours + "forged/u1", pod: "forged", want: "selecting-a"},
		"annotation of other namespace": {token: ours + "foreign/u1", pod: "foreign"},
		"nobody's":                      {token: ours + "plain/u1", pod: "plain"},

		"wrong token":      {token: "junk", pod: "wired", code: codes.Unauthenticated, want: "the bearer token is not valid"},
		"another audience": {token: "vault default/wired/u1", pod: "wired", code: codes.Unauthenticated, want: "the bearer token is not valid"},
		"token without a Pod": {token: "inferencecache.io default", pod: "wired",
			code: codes.PermissionDenied, want: "the token is not bound to a Pod"},
		"user": {token: "jane", pod: "wired",
			code: codes.PermissionDenied, want: "only a Pod's service account may report, not jane"},
		"another Pod": {token: ours + "wired/u1", pod: "selected",
			code: codes.PermissionDenied, want: "the token of Pod default/wired may not report for Pod default/selected"},
		"another namespace": {token: ours + "wired/u1", pod: "wired", change: func(h *pb.Hello) { h.Holder.Namespace = "other" },
			code: codes.PermissionDenied, want: "the token of Pod default/wired may not report for Pod other/wired"},
		"another namespace's tenant": {token: ours + "wired/u1", pod: "wired", change: func(h *pb.Hello) { h.TenantId = "other" },
			code: codes.PermissionDenied, want: "tenant other does not belong to namespace default"},
		"another backend": {token: ours + "wired/u1", pod: "wired", backend: "selecting-a",
			code: codes.PermissionDenied, want: "Pod default/wired belongs to CacheBackend default/wired and may not report for CacheBackend default/selecting-a"},
		"another namespace's backend": {token: ours + "wired/u1", pod: "wired", change: func(h *pb.Hello) { h.Backend = &pb.BackendRef{Namespace: "other", Name: "wired"} },
			code: codes.PermissionDenied, want: "Pod default/wired belongs to CacheBackend default/wired and may not report for CacheBackend other/wired"},
		"a backend, of nobody": {token: ours + "plain/u1", pod: "plain", backend: "wired",
			code: codes.PermissionDenied, want: "Pod default/plain belongs to no CacheBackend and may not report for CacheBackend default/wired"},
		"the Pod before": {token: ours + "wired/u0", pod: "wired",
			code: codes.PermissionDenied, want: "the token is bound to another Pod of the name default/wired, which is gone"},
		"a deleted Pod": {token: ours + "gone/u1", pod: "gone",
			code: codes.PermissionDenied, want: "there is no Pod default/gone"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			h := hello(test.pod)
			// Every test is an engine rank of its own life.
			h.ModelId = "model of " + name
			if test.backend != "" {
				h.Backend = &pb.BackendRef{Namespace: "default", Name: test.backend}
			}
			if test.change != nil {
				test.change(h)
			}
			_, err := p.open(ctx, test.token, h)
			if test.code != codes.OK {
				if status.Code(err) != test.code || status.Convert(err).Message() != test.want {
					t.Errorf("got %v, want %s: %s", err, test.code, test.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, backend := range []string{"wired", "selecting-a", "selecting-b", "empty"} {
				var observation v1alpha1.CacheBackendObservation
				err := p.api.InferencecacheV1alpha1().RESTClient().Get().Namespace("default").Resource("cachebackends").Name(backend).
					SubResource("observation").Param("model", h.GetModelId()).Do(ctx).Into(&observation)
				if err != nil || (len(observation.Replicas) == 1) != (backend == test.want) {
					t.Errorf("backend %s has %d replicas of it, error %v; it counts for %q", backend, len(observation.Replicas), err, test.want)
				}
			}
		})
	}
}

func TestReportsWhileTheClusterIsDown(t *testing.T) {
	kube := &cluster{}
	p := startPort(t, kube)
	kube.engines.set("default/a", "u1", nil, nil)
	kube.engines.set("default/b", "u1", nil, nil)
	if _, err := p.open(t.Context(), "inferencecache.io default/a/u1", hello("a")); err != nil {
		t.Fatal(err)
	}
	kube.engines.down.Store(true)
	_, err := p.open(t.Context(), "inferencecache.io default/b/u1", hello("b"))
	if want := "the cluster could not be asked about the token"; status.Code(err) != codes.Unavailable || status.Convert(err).Message() != want {
		t.Errorf("got %v, want Unavailable: %s", err, want)
	}
	kube.engines.down.Store(false)
	if _, err := p.open(t.Context(), "inferencecache.io default/b/u1", hello("b")); err != nil {
		t.Errorf("after the cluster came back: %v", err)
	}
}

// TestSessionsMoveWithTheirBackends holds that an engine counts for another backend
// when the objects say so, whatever comes first.
func TestSessionsMoveWithTheirBackends(t *testing.T) {
	kube := &cluster{}
	p := startPort(t, kube)
	const token = "inferencecache.io default/engine/u1"
	kube.engines.set("default/engine", "u1", map[string]string{"app": "llm"}, nil)
	backends := p.api.InferencecacheV1alpha1().CacheBackends("default")
	llm := map[string]string{"app": "llm"}
	steps := []struct {
		name   string
		change func() error
		end    string
		now    string
	}{
		{"a backend is made", func() error { p.backend(t, "b", llm); return nil },
			"the session counted for no CacheBackend and now counts for CacheBackend default/b; open it again", "b"},
		{"one that comes before it by name", func() error { p.backend(t, "a", llm); return nil },
			"the session counted for CacheBackend default/b and now counts for CacheBackend default/a; open it again", "a"},
		{"it looks for other Pods", func() error {
			a, err := backends.Get(t.Context(), "a", metav1.GetOptions{})
			if err == nil {
				a.Spec.EngineSelector.MatchLabels["app"] = "other"
				_, err = backends.Update(t.Context(), a, metav1.UpdateOptions{})
			}
			return err
		}, "the session counted for CacheBackend default/a and now counts for CacheBackend default/b; open it again", "b"},
		{"the other is deleted", func() error { return backends.Delete(t.Context(), "b", metav1.DeleteOptions{}) },
			"the session counted for CacheBackend default/b and now counts for no CacheBackend; open it again", ""},
	}
	stream, err := p.open(t.Context(), token, hello("engine"))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range steps {
		if err := step.change(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		_, err := stream.Recv()
		if status.Code(err) != codes.Aborted || status.Convert(err).Message() != step.end {
			t.Fatalf("%s: the stream ended with %v, want Aborted: %s", step.name, err, step.end)
		}
		if stream, err = p.open(t.Context(), token, hello("engine")); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if step.now == "" {
			continue
		}
		if n, err := p.replicas(t.Context(), step.now); err != nil || n != 1 {
			t.Errorf("%s: backend %s has %d replicas, error %v", step.name, step.now, n, err)
		}
	}
	// A tenant of the namespace that goes takes its sessions along.
	tenants := p.api.InferencecacheV1alpha1().CacheTenants("default")
	tenant := &v1alpha1.CacheTenant{ObjectMeta: metav1.ObjectMeta{Name: "t"}, Spec: v1alpha1.CacheTenantSpec{TenantID: "acme"}}
	if _, err := tenants.Create(t.Context(), tenant, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	h := hello("engine")
	h.TenantId = "acme"
	mustSucceedSoon(t, func(ctx context.Context) error {
		stream, err = p.open(t.Context(), token, h) //nolint:contextcheck // the stream outlives the attempt
		return err
	})
	if err := tenants.Delete(t.Context(), "t", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); status.Code(err) != codes.PermissionDenied || status.Convert(err).Message() != "tenant acme does not belong to namespace default" {
		t.Errorf("the stream ended with %v", err)
	}
}

// TestWhatIsAskedIsRemembered counts what many lookups and the ranks of one Pod cost
// the cluster.
func TestWhatIsAskedIsRemembered(t *testing.T) {
	kube := &cluster{}
	p := startPort(t, kube)
	kube.engines.set("default/a", "u1", nil, nil)
	for rank := range 8 {
		h := hello("a")
		h.Holder.Rank = uint32(rank)
		if _, err := p.open(t.Context(), "inferencecache.io default/a/u1", h); err != nil {
			t.Fatal(err)
		}
	}
	if reads := kube.engines.reads.Load(); reads != 1 {
		t.Errorf("8 ranks of a Pod were %d reads of it", reads)
	}
	ask := func(token, tenant string) error {
		ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+token)
		_, err := p.LookupRoute(ctx, &pb.LookupRouteRequest{TenantId: tenant, ModelId: "m", TokenIds: []uint32{1}})
		return err
	}
	before := kube.engines.reviews.Load()
	for range 100 {
		if err := ask("jane", "default"); err != nil {
			t.Fatal(err)
		}
	}
	// The token is no Pod's, so its first review is in vain; a slow machine may need
	// another pair.
	if reviews := kube.engines.reviews.Load() - before; reviews < 2 || reviews > 20 {
		t.Errorf("100 lookups were %d token reviews", reviews)
	}
	const denied = "creating routelookups in the tenant's namespace is not allowed"
	for _, tenant := range []string{"other", "nobody", ""} {
		if err := ask("jane", tenant); status.Code(err) != codes.PermissionDenied || status.Convert(err).Message() != denied {
			t.Errorf("tenant %q: got %v, want PermissionDenied: %s", tenant, err, denied)
		}
	}
	// An engine's token is good for reports only.
	if err := ask("inferencecache.io default/a/u1", "default"); status.Code(err) != codes.PermissionDenied {
		t.Errorf("got %v for an engine that asks, want PermissionDenied", err)
	}
}

// TestRouteLookupsOfOthersTenants asks in a namespace about the tenant of another.
func TestRouteLookupsOfOthersTenants(t *testing.T) {
	p := startPort(t, &cluster{})
	tenant := &v1alpha1.CacheTenant{ObjectMeta: metav1.ObjectMeta{Name: "t"}, Spec: v1alpha1.CacheTenantSpec{TenantID: "acme"}}
	if _, err := p.api.InferencecacheV1alpha1().CacheTenants("default").Create(t.Context(), tenant, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	ask := func(namespace, tenant string) error {
		lookup := &v1alpha1.RouteLookup{Spec: v1alpha1.RouteLookupSpec{ModelID: "m", TenantID: tenant, TokenIDs: []int64{1}}}
		_, err := p.api.InferencecacheV1alpha1().RouteLookups(namespace).Create(t.Context(), lookup, metav1.CreateOptions{})
		return err
	}
	mustSucceedSoon(t, func(context.Context) error { return ask("default", "acme") })
	for _, tenant := range []string{"", "default"} {
		if err := ask("default", tenant); err != nil {
			t.Errorf("tenant %q: %v", tenant, err)
		}
	}
	// Whether there is such a tenant does not show.
	for _, tenant := range []string{"other", "nobody"} {
		err := ask("default", tenant)
		want := "spec.tenantID: tenant " + tenant + " does not belong to namespace default"
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("tenant %s: got %v, want %s", tenant, err, want)
		}
	}
	if err := ask("other", "acme"); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "tenant acme does not belong to namespace other") {
		t.Errorf("got %v", err)
	}
}
