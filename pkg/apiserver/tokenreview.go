/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"context"
	"errors"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	"k8s.io/klog/v2"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/indexserver"
)

const (
	// tokenAudience is that of tokens which are made for the gRPC port.
	tokenAudience = v1alpha1.GroupName
	// reviewsAtOnce bounds the reviews under way, which take milliseconds each: it is
	// what a cluster that answers slowly is left with.
	reviewsAtOnce = 64
)

// errUndecided says of the cluster only that it could not be asked; the log knows more.
var errUndecided = status.Error(codes.Unavailable, "the cluster could not be asked about the token")

// tokenReviews authenticates the gRPC port in a cluster: a token is good when the
// cluster takes it for our audience, or for its own, as an ordinary one. It remembers
// nothing: indexserver does, and so a revoked token is good for the time that is
// stated there and no longer. The library's authenticator is not used, because it
// remembers as well, and does not tell a wrong token from a cluster that is down.
type tokenReviews struct {
	client  authenticationclient.TokenReviewInterface
	slots   chan struct{}
	metrics *accessMetrics
}

func newTokenReviews(client authenticationclient.TokenReviewInterface, m *accessMetrics) *tokenReviews {
	return &tokenReviews{client: client, slots: make(chan struct{}, reviewsAtOnce), metrics: m}
}

// Authenticate implements indexserver.Authenticator.
func (r *tokenReviews) Authenticate(ctx context.Context, token string) (indexserver.Identity, error) {
	ctx, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return indexserver.Identity{}, errUndecided
	}
	for _, audiences := range [][]string{{tokenAudience}, nil} {
		who, err := r.review(ctx, token, audiences)
		if !errors.Is(err, errInvalidToken) {
			return who, err
		}
	}
	return indexserver.Identity{}, errInvalidToken
}

// review asks once. Without audiences the cluster takes its own.
func (r *tokenReviews) review(ctx context.Context, token string, audiences []string) (indexserver.Identity, error) {
	start := time.Now()
	review, err := r.client.Create(ctx, &authenticationv1.TokenReview{
		Spec: authenticationv1.TokenReviewSpec{Token: token, Audiences: audiences},
	}, metav1.CreateOptions{})
	r.metrics.reviewTime.Observe(time.Since(start).Seconds())
	if err != nil {
		if apierrors.IsBadRequest(err) || apierrors.IsInvalid(err) {
			r.metrics.reviews.WithLabelValues(reviewRefused).Inc()
			return indexserver.Identity{}, errInvalidToken
		}
		r.metrics.reviews.WithLabelValues(reviewFailed).Inc()
		klog.FromContext(ctx).V(2).Info("Token review failed", "err", err.Error())
		return indexserver.Identity{}, errUndecided
	}
	who := &review.Status.User
	if !review.Status.Authenticated || who.Username == "" || who.Username == user.Anonymous || !intended(audiences, review.Status.Audiences) {
		r.metrics.reviews.WithLabelValues(reviewRefused).Inc()
		return indexserver.Identity{}, errInvalidToken
	}
	r.metrics.reviews.WithLabelValues(reviewTaken).Inc()
	identity := indexserver.Identity{Name: who.Username, UID: who.UID, Groups: who.Groups, Extra: map[string][]string{}}
	for key, values := range who.Extra {
		identity.Extra[key] = values
	}
	return identity, nil
}

// intended reports whether a token is for one of the wanted audiences. A cluster that
// names none took the token for its own, which is taken as well.
func intended(wanted, got []string) bool {
	return len(wanted) == 0 || len(got) == 0 || slices.ContainsFunc(got, func(a string) bool { return slices.Contains(wanted, a) })
}
