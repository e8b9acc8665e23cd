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
	"sync/atomic"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/klog/v2"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/pkg/indexserver"
)

// tokens authenticates the gRPC port of a standalone server the way its HTTPS port is:
// by the one token that there is. In a cluster it is tokenReviews.
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

// clusterAccess decides about calls in a cluster. A Pod reports for itself, only into
// a tenant of its namespace, and for the backend that it belongs to; whoever may
// create routelookups in a tenant's namespace may ask about that tenant.
type clusterAccess struct {
	authorizer authorizer.Authorizer
	// namespaceOf returns the namespace that a tenant belongs to.
	namespaceOf func(tenant string) string
	pods        *pods
	backends    *attribution
	// synced reports whether what decides has been read.
	synced func() bool
}

// errNotRead refuses engines for the first moment of a server: what they may report
// for is not known yet.
var errNotRead = status.Error(codes.Unavailable, "the CacheBackends and CacheTenants have not been read yet")

// MayReport implements indexserver.Authorizer.
func (a *clusterAccess) MayReport(ctx context.Context, who indexserver.Identity, hello *index.Hello) (indexserver.Permission, error) {
	bound, err := podOf(who)
	if err != nil {
		return indexserver.Permission{}, err
	}
	if bound.Name != hello.Holder.Pod || bound.Namespace != hello.Holder.Namespace {
		return indexserver.Permission{}, fmt.Errorf("the token of Pod %s may not report for Pod %s/%s", bound.NamespacedName, hello.Holder.Namespace, hello.Holder.Pod)
	}
	if !a.synced() {
		return indexserver.Permission{}, errNotRead
	}
	if err := a.owns(bound.Namespace, hello.Tenant); err != nil {
		return indexserver.Permission{}, err
	}
	pod, err := a.pods.get(ctx, bound)
	if err != nil {
		return indexserver.Permission{}, err
	}
	actual, shown, err := a.backends.resolve(ctx, pod, hello.Backend)
	if err != nil {
		return indexserver.Permission{}, status.Errorf(codes.Unavailable, "find the CacheBackend of Pod %s: %v", bound.NamespacedName, err)
	}
	if named := hello.Backend; named != (index.Backend{}) && named != actual {
		return indexserver.Permission{}, fmt.Errorf("Pod %s belongs to %s and may not report for %s", //nolint:staticcheck // Pod is a kind
			bound.NamespacedName, indexserver.NameOf(actual), indexserver.NameOf(named))
	}
	return indexserver.Permission{Backend: actual, Holds: a.holds(pod, hello.Tenant, actual, shown)}, nil
}

// holds looks at a permission again with what the informers show by then. They may
// have been behind when it was given: as long as they show what they did, they still are.
func (a *clusterAccess) holds(pod *enginePod, tenant string, granted, shown index.Backend) func() error {
	var caughtUp atomic.Bool
	caughtUp.Store(granted == shown)
	return func() error {
		if err := a.owns(pod.Namespace, tenant); err != nil {
			return status.Error(codes.PermissionDenied, err.Error())
		}
		now := a.backends.of(pod)
		if now == granted {
			caughtUp.Store(true)
			return nil
		}
		if now == shown && !caughtUp.Load() {
			return nil
		}
		return indexserver.Moved(granted, now)
	}
}

// owns returns why engines of a namespace may not report for a tenant.
func (a *clusterAccess) owns(namespace, tenant string) error {
	if a.namespaceOf(tenant) != namespace {
		return fmt.Errorf("tenant %s does not belong to namespace %s", tenant, namespace)
	}
	return nil
}

// podOf returns the Pod that a token is bound to.
func podOf(who indexserver.Identity) (podKey, error) {
	namespace, _, err := serviceaccount.SplitUsername(who.Name)
	if err != nil {
		return podKey{}, fmt.Errorf("only a Pod's service account may report, not %s", who.Name)
	}
	names, uids := who.Extra[serviceaccount.PodNameKey], who.Extra[serviceaccount.PodUIDKey]
	if len(names) != 1 || len(uids) != 1 || names[0] == "" || uids[0] == "" {
		return podKey{}, errors.New("the token is not bound to a Pod")
	}
	return podKey{types.NamespacedName{Namespace: namespace, Name: names[0]}, types.UID(uids[0])}, nil
}

// errNoReview says of the cluster only that it could not be asked; the log knows more.
var errNoReview = status.Error(codes.Unavailable, "the cluster could not be asked who may create routelookups")

// MayLookup implements indexserver.Authorizer.
func (a *clusterAccess) MayLookup(ctx context.Context, who indexserver.Identity, tenant string) error {
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
		klog.FromContext(ctx).V(2).Info("Access review failed", "err", err.Error())
		return errNoReview
	default:
		return errors.New(strings.TrimSpace("creating routelookups in the tenant's namespace is not allowed " + reason))
	}
}
