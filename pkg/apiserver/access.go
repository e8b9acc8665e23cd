/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/indexserver"
)

// tokens authenticates the gRPC port the way the HTTPS port is authenticated:
// by the one token of standalone mode, or by the cluster's token review.
type tokens struct {
	requests authenticator.Request
}

// errInvalidToken does not say in what way a token is wrong.
var errInvalidToken = errors.New("the bearer token is not valid")

// Authenticate implements indexserver.Authenticator.
func (t tokens) Authenticate(ctx context.Context, token string) (indexserver.Identity, error) {
	// An authenticator of the library reads a request; this one carries the
	// token and nothing else, so neither headers of a proxy nor a certificate
	// can stand in for it. The path is none that is open to anonymous users.
	request := (&http.Request{Header: http.Header{}}).WithContext(ctx)
	request.Header.Set("Authorization", "Bearer "+token)
	request.URL = grpcPath()
	response, ok, err := t.requests.AuthenticateRequest(request)
	if err != nil && ctx.Err() != nil {
		return indexserver.Identity{}, status.FromContextError(ctx.Err()).Err()
	}
	if err != nil || !ok || response.User.GetName() == user.Anonymous {
		return indexserver.Identity{}, errInvalidToken
	}
	return indexserver.Identity{
		Name:   response.User.GetName(),
		UID:    response.User.GetUID(),
		Groups: response.User.GetGroups(),
		Extra:  response.User.GetExtra(),
	}, nil
}

// clusterAccess decides about calls in a cluster. A Pod reports for itself, and
// only into a tenant of its namespace; whoever may create routelookups in a
// tenant's namespace may ask about that tenant.
type clusterAccess struct {
	authorizer authorizer.Authorizer
	// namespaceOf returns the namespace that a tenant belongs to.
	namespaceOf func(tenant string) string
}

// MayReport implements indexserver.Authorizer.
func (a clusterAccess) MayReport(_ context.Context, who indexserver.Identity, hello *index.Hello) error {
	namespace, _, err := serviceaccount.SplitUsername(who.Name)
	if err != nil {
		return fmt.Errorf("only a Pod's service account may report, not %s", who.Name)
	}
	pods := who.Extra[serviceaccount.PodNameKey]
	if len(pods) != 1 {
		return errors.New("the token is not bound to a Pod")
	}
	if pods[0] != hello.Holder.Pod || namespace != hello.Holder.Namespace {
		return fmt.Errorf("the token of Pod %s/%s may not report for Pod %s/%s", namespace, pods[0], hello.Holder.Namespace, hello.Holder.Pod)
	}
	if owner := a.namespaceOf(hello.Tenant); owner != namespace {
		return fmt.Errorf("tenant %s does not belong to namespace %s", hello.Tenant, namespace)
	}
	return nil
}

// MayLookup implements indexserver.Authorizer.
func (a clusterAccess) MayLookup(ctx context.Context, who indexserver.Identity, tenant string) error {
	attributes := authorizer.AttributesRecord{
		User:            &user.DefaultInfo{Name: who.Name, UID: who.UID, Groups: who.Groups, Extra: who.Extra},
		Verb:            "create",
		APIGroup:        v1alpha1.GroupName,
		APIVersion:      v1alpha1.SchemeGroupVersion.Version,
		Resource:        "routelookups",
		ResourceRequest: true,
	}
	if tenant != "" {
		attributes.Namespace = a.namespaceOf(tenant)
	}
	decision, reason, err := a.authorizer.Authorize(ctx, attributes)
	switch {
	case decision == authorizer.DecisionAllow:
		return nil
	case err != nil:
		return status.Errorf(codes.Unavailable, "authorization: %v", err)
	default:
		return errors.New(strings.TrimSpace("creating routelookups in the tenant's namespace is not allowed " + reason))
	}
}
