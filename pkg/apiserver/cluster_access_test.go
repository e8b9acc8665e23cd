/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"context"
	"errors"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/indexserver"
)

// access returns the rules of a cluster in which namespace team-a has the tenant
// acme, and in which rights are decided by authorize.
func access(t *testing.T, authorize authorizer.AuthorizerFunc) clusterAccess {
	t.Helper()
	tenancy := &tenancy{}
	tenancy.claimed.Store("acme", &claim{namespace: "team-a"})
	return clusterAccess{authorizer: authorize, namespaceOf: tenancy.namespaceOf}
}

func TestMayReport(t *testing.T) {
	const pod = "authentication.kubernetes.io/pod-name"
	engine := indexserver.Identity{Name: "system:serviceaccount:team-a:engine", Extra: map[string][]string{pod: {"vllm-0"}}}
	hello := func(namespace, pod, tenant string) *index.Hello {
		return &index.Hello{Holder: index.Holder{Namespace: namespace, Pod: pod}, Tenant: tenant}
	}
	tests := map[string]struct {
		who   indexserver.Identity
		hello *index.Hello
		// want is a part of the refusal; none means allowed.
		want string
	}{
		"itself":                 {who: engine, hello: hello("team-a", "vllm-0", "team-a")},
		"itself for its tenant":  {who: engine, hello: hello("team-a", "vllm-0", "acme")},
		"another Pod":            {who: engine, hello: hello("team-a", "vllm-1", "team-a"), want: "may not report for Pod team-a/vllm-1"},
		"another namespace":      {who: engine, hello: hello("team-b", "vllm-0", "team-b"), want: "may not report for Pod team-b/vllm-0"},
		"tenant of others":       {who: engine, hello: hello("team-a", "vllm-0", "team-b"), want: "tenant team-b does not belong to namespace team-a"},
		"token without a Pod":    {who: indexserver.Identity{Name: engine.Name}, hello: hello("team-a", "vllm-0", "team-a"), want: "not bound to a Pod"},
		"user":                   {who: indexserver.Identity{Name: "jane", Extra: engine.Extra}, hello: hello("team-a", "vllm-0", "team-a"), want: "only a Pod's service account may report"},
		"tenant taken by others": {who: indexserver.Identity{Name: "system:serviceaccount:acme:engine", Extra: engine.Extra}, hello: hello("acme", "vllm-0", "acme"), want: "tenant acme does not belong to namespace acme"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := access(t, nil).MayReport(t.Context(), tc.who, tc.hello)
			if (err == nil) != (tc.want == "") || (err != nil && !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("error %v, want one that says %q", err, tc.want)
			}
		})
	}
}

func TestMayLookup(t *testing.T) {
	// Jane may create routelookups in team-a.
	jane := authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		if a.GetUser().GetName() == "jane" && a.GetNamespace() == "team-a" && a.GetVerb() == "create" &&
			a.GetAPIGroup() == "inferencecache.io" && a.GetResource() == "routelookups" && a.IsResourceRequest() {
			return authorizer.DecisionAllow, "", nil
		}
		return authorizer.DecisionNoOpinion, "", nil
	})
	down := authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
		return authorizer.DecisionNoOpinion, "", errors.New("no answer")
	})
	tests := map[string]struct {
		authorize   authorizer.AuthorizerFunc
		who, tenant string
		allowed     bool
		// code is that of the refusal, Unknown for a plain error.
		code codes.Code
	}{
		"tenant by namespace":      {authorize: jane, who: "jane", tenant: "team-a", allowed: true},
		"tenant by claim":          {authorize: jane, who: "jane", tenant: "acme", allowed: true},
		"other tenant":             {authorize: jane, who: "jane", tenant: "team-b", code: codes.Unknown},
		"all tenants":              {authorize: jane, who: "jane", code: codes.Unknown},
		"other user":               {authorize: jane, who: "joe", tenant: "team-a", code: codes.Unknown},
		"authorisation is missing": {authorize: down, who: "jane", tenant: "team-a", code: codes.Unavailable},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := access(t, tc.authorize).MayLookup(t.Context(), indexserver.Identity{Name: tc.who}, tc.tenant)
			if (err == nil) != tc.allowed || (err != nil && status.Code(err) != tc.code) {
				t.Errorf("error %v, want allowed %t or code %v", err, tc.allowed, tc.code)
			}
		})
	}
}
