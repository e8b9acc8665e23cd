/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/apiserver/apiservertest"
	"inferencecache.io/inference-cache/pkg/apiserver/options"
	pb "inferencecache.io/inference-cache/pkg/generated/proto/inferencecache/v1alpha1"
)

// asker asks a server by gRPC.
type asker struct {
	t      *testing.T
	ctx    context.Context //nolint:containedctx // it carries the token of the test
	client pb.InferenceCacheClient
}

func newAsker(t *testing.T, s *apiservertest.Server) *asker {
	t.Helper()
	conn, err := grpc.NewClient(s.GRPCAddr, grpc.WithTransportCredentials(credentials.NewTLS(trust(t, s))))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &asker{
		t: t, client: pb.NewInferenceCacheClient(conn),
		ctx: metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+s.Token),
	}
}

func (a *asker) ask(r *pb.LookupRouteRequest) *pb.LookupRouteResponse {
	a.t.Helper()
	response, err := a.client.LookupRoute(a.ctx, r)
	if err != nil {
		a.t.Fatal(err)
	}
	return response
}

// await asks until the reason is the wanted one.
func (a *asker) await(tenant, reason string) {
	a.t.Helper()
	got := ""
	if err := wait.PollUntilContextTimeout(a.ctx, 10*time.Millisecond, 20*time.Second, true, func(context.Context) (bool, error) {
		got = a.ask(&pb.LookupRouteRequest{TenantId: tenant, ModelId: "m", TokenIds: make([]uint32, 64)}).GetReasonCode()
		return got == reason, nil
	}); err != nil {
		a.t.Fatalf("tenant %s: still %s, want %s", tenant, got, reason)
	}
}

// TestLookupsFollowPolicies changes policies and tenants under a running server.
func TestLookupsFollowPolicies(t *testing.T) {
	s := apiservertest.Start(t)
	router := newAsker(t, s)
	router.await("default", "NO_HINT")

	kinds := clientset(t, s.Config).InferencecacheV1alpha1()
	policy, err := kinds.CachePolicies("default").Create(t.Context(), &v1alpha1.CachePolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "p"},
		Spec:       v1alpha1.CachePolicySpec{Strategy: &v1alpha1.LookupStrategy{RequireChain: ptr.To(true)}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	router.await("default", "POLICY_REQUIRES_CHAIN")
	router.await("acme", "NO_HINT")

	tenant := &v1alpha1.CacheTenant{ObjectMeta: metav1.ObjectMeta{Name: "t"}, Spec: v1alpha1.CacheTenantSpec{TenantID: "acme"}}
	if _, err := kinds.CacheTenants("default").Create(t.Context(), tenant, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	router.await("acme", "POLICY_REQUIRES_CHAIN")

	policy.Spec.Strategy.RequireChain = ptr.To(false)
	if _, err := kinds.CachePolicies("default").Update(t.Context(), policy, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	router.await("acme", "NO_HINT")
	router.await("default", "NO_HINT")
}

// TestPoliciesAreKnownAtTheFirstAnswer asks a server that was just ready.
func TestPoliciesAreKnownAtTheFirstAnswer(t *testing.T) {
	dir := t.TempDir()
	first := apiservertest.Start(t, apiservertest.WithDataDir(dir))
	policy := &v1alpha1.CachePolicy{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: v1alpha1.CachePolicySpec{Strategy: &v1alpha1.LookupStrategy{RequireChain: ptr.To(true)}}}
	if _, err := clientset(t, first.Config).InferencecacheV1alpha1().CachePolicies("default").Create(t.Context(), policy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	router := newAsker(t, apiservertest.Start(t, apiservertest.WithDataDir(dir)))
	if got := router.ask(&pb.LookupRouteRequest{TenantId: "default", ModelId: "m", TokenIds: []uint32{1}}); got.GetReasonCode() != "POLICY_REQUIRES_CHAIN" {
		t.Errorf("got %v before the policy was known", got)
	}
}

func TestTokenizerFlag(t *testing.T) {
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/tokenize" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, `{"count":3,"max_model_len":4096,"tokens":[7,8,9]}`)
	}))
	t.Cleanup(engine.Close)
	s := apiservertest.Start(t, func(o *options.Options) { o.Tokenizers = []string{"m=" + engine.URL} })
	router := newAsker(t, s)
	got := router.ask(&pb.LookupRouteRequest{TenantId: "default", ModelId: "m", PromptText: "a prompt"})
	if diff := cmp.Diff([]uint32{7, 8, 9}, got.GetTokenIds()); diff != "" || got.GetReasonCode() != "NO_HINT" {
		t.Errorf("got %v; echoed tokens (-want +got):\n%s", got, diff)
	}
	other := router.ask(&pb.LookupRouteRequest{TenantId: "default", ModelId: "n", PromptText: "a prompt"})
	if other.GetReasonCode() != "NO_HINT" || other.GetExplanation() == "" {
		t.Errorf("got %v for a model without a tokenizer, want NO_HINT and why", other)
	}
}
