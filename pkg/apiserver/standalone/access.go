/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package standalone

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"slices"

	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/group"
	"k8s.io/apiserver/pkg/authentication/request/anonymous"
	"k8s.io/apiserver/pkg/authentication/request/bearertoken"
	"k8s.io/apiserver/pkg/authentication/request/union"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/path"
)

// AdminUser is the name of the one user there is.
const AdminUser = "inference-cache:standalone-admin"

// healthPaths answer without a token, as probes and scripts expect.
func healthPaths() []string {
	return []string{"/healthz", "/livez", "/readyz"}
}

// Authenticator returns who makes a request: the administrator when it carries
// the token, an anonymous user when it asks for health, else nobody.
func (c *Credentials) Authenticator() authenticator.Request {
	var conditions []apiserver.AnonymousAuthCondition
	for _, p := range healthPaths() {
		conditions = append(conditions, apiserver.AnonymousAuthCondition{Path: p})
	}
	return union.New(
		group.NewAuthenticatedGroupAdder(bearertoken.New(authenticator.TokenFunc(c.authenticate))),
		anonymous.NewAuthenticator(conditions),
	)
}

// authenticate compares digests, so that the time it takes tells nothing about
// the token, not even its length.
func (c *Credentials) authenticate(_ context.Context, token string) (*authenticator.Response, bool, error) {
	want, got := sha256.Sum256([]byte(c.token)), sha256.Sum256([]byte(token))
	if subtle.ConstantTimeCompare(want[:], got[:]) != 1 {
		return nil, false, nil
	}
	// The library takes on the traces of this group, which may do nothing here.
	return &authenticator.Response{User: &user.DefaultInfo{Name: AdminUser, Groups: []string{user.MonitoringGroup}}}, true, nil
}

// Authorizer allows the administrator everything and others only the health
// endpoints. The privileged group is that of the server's own loopback client;
// no token that leaves the process carries it.
func Authorizer() (authorizer.Authorizer, error) {
	health, err := path.NewAuthorizer(healthPaths())
	if err != nil {
		return nil, fmt.Errorf("allow health endpoints: %w", err)
	}
	return authorizer.AuthorizerFunc(func(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		u := a.GetUser()
		if u != nil && (u.GetName() == AdminUser || slices.Contains(u.GetGroups(), user.SystemPrivilegedGroup)) {
			return authorizer.DecisionAllow, "", nil
		}
		return health.Authorize(ctx, a)
	}), nil
}
