/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"context"
	"errors"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"inferencecache.io/inference-cache/pkg/indexserver"
)

// access returns the rules of a cluster in which namespace team-a has the tenant
// acme, and in which rights are decided by authorize.
func access(t *testing.T, authorize authorizer.AuthorizerFunc) *clusterAccess {
	t.Helper()
	tenancy := &tenancy{}
	tenancy.claimed.Store("acme", &claim{namespace: "team-a"})
	return &clusterAccess{authorizer: authorize, namespaceOf: tenancy.namespaceOf}
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
	const notAllowed = "creating routelookups in the tenant's namespace is not allowed"
	down := authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
		return authorizer.DecisionNoOpinion, "", errors.New("no answer")
	})
	tests := map[string]struct {
		authorize   authorizer.AuthorizerFunc
		who, tenant string
		allowed     bool
		// code is that of the refusal, Unknown for a plain error.
		code codes.Code
		text string
	}{
		"tenant by namespace":      {authorize: jane, who: "jane", tenant: "team-a", allowed: true},
		"tenant by claim":          {authorize: jane, who: "jane", tenant: "acme", allowed: true},
		"other tenant":             {authorize: jane, who: "jane", tenant: "team-b", code: codes.Unknown, text: notAllowed},
		"all tenants":              {authorize: jane, who: "jane", code: codes.Unknown, text: notAllowed},
		"other user":               {authorize: jane, who: "joe", tenant: "team-a", code: codes.Unknown, text: notAllowed},
		"authorisation is missing": {authorize: down, who: "jane", tenant: "team-a", code: codes.Unavailable, text: "the cluster could not be asked who may create routelookups"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := access(t, tc.authorize).MayLookup(t.Context(), indexserver.Identity{Name: tc.who}, tc.tenant)
			if (err == nil) != tc.allowed || (err != nil && (status.Code(err) != tc.code || status.Convert(err).Message() != tc.text)) {
				t.Errorf("error %v, want allowed %t or code %v: %s", err, tc.allowed, tc.code, tc.text)
			}
		})
	}
}
