/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"

	"inferencecache.io/inference-cache/pkg/indexserver"
)

// tokenReviewer is a cluster that reviews tokens.
type tokenReviewer struct {
	authenticationclient.TokenReviewInterface

	answer func(spec authenticationv1.TokenReviewSpec) (authenticationv1.TokenReviewStatus, error)
	asked  [][]string
}

func (r *tokenReviewer) Create(_ context.Context, review *authenticationv1.TokenReview, _ metav1.CreateOptions) (*authenticationv1.TokenReview, error) {
	r.asked = append(r.asked, review.Spec.Audiences)
	decision, err := r.answer(review.Spec)
	return &authenticationv1.TokenReview{Status: decision}, err
}

func TestTokenReviews(t *testing.T) {
	engine := authenticationv1.UserInfo{
		Username: "system:serviceaccount:team-a:engine", UID: "1", Groups: []string{"system:serviceaccounts"},
		Extra: map[string]authenticationv1.ExtraValue{
			"authentication.kubernetes.io/pod-name": {"vllm-0"}, "authentication.kubernetes.io/pod-uid": {"live"}, "authentication.kubernetes.io/node-name": {"n"},
		},
	}
	// good takes a token for some audiences, "" standing for the cluster's own.
	good := func(user authenticationv1.UserInfo, audiences ...string) func(authenticationv1.TokenReviewSpec) (authenticationv1.TokenReviewStatus, error) {
		return func(spec authenticationv1.TokenReviewSpec) (authenticationv1.TokenReviewStatus, error) {
			if slices.Contains(audiences, strings.Join(spec.Audiences, ",")) {
				return authenticationv1.TokenReviewStatus{Authenticated: true, User: user, Audiences: spec.Audiences}, nil
			}
			return authenticationv1.TokenReviewStatus{Error: "[invalid bearer token, secret of the cluster]"}, nil
		}
	}
	failing := func(code int) func(authenticationv1.TokenReviewSpec) (authenticationv1.TokenReviewStatus, error) {
		return func(authenticationv1.TokenReviewSpec) (authenticationv1.TokenReviewStatus, error) {
			return authenticationv1.TokenReviewStatus{}, apierrors.NewGenericServerResponse(code, "post", authenticationv1.Resource("tokenreviews"), "", "secret of the cluster", 0, true)
		}
	}
	whole := indexserver.Identity{
		Name: engine.Username, UID: "1", Groups: engine.Groups, Extra: map[string][]string{
			"authentication.kubernetes.io/pod-name": {"vllm-0"}, "authentication.kubernetes.io/pod-uid": {"live"}, "authentication.kubernetes.io/node-name": {"n"},
		},
	}
	const wrong, down = "the bearer token is not valid", "the cluster could not be asked about the token"
	tests := map[string]struct {
		answer func(authenticationv1.TokenReviewSpec) (authenticationv1.TokenReviewStatus, error)
		code   codes.Code
		text   string
		// asked are the audiences of the reviews.
		asked  [][]string
		result string
	}{
		"of our audience": {answer: good(engine, "inferencecache.io"), asked: [][]string{{"inferencecache.io"}}, result: reviewTaken},
		"ordinary":        {answer: good(engine, ""), asked: [][]string{{"inferencecache.io"}, nil}, result: reviewTaken},
		"of none": {answer: good(engine), code: codes.Unknown, text: wrong,
			asked: [][]string{{"inferencecache.io"}, nil}, result: reviewRefused},
		"anonymous": {answer: good(authenticationv1.UserInfo{Username: "system:anonymous"}, "", "inferencecache.io"), code: codes.Unknown, text: wrong,
			asked: [][]string{{"inferencecache.io"}, nil}, result: reviewRefused},
		"without a name": {answer: good(authenticationv1.UserInfo{}, "", "inferencecache.io"), code: codes.Unknown, text: wrong,
			asked: [][]string{{"inferencecache.io"}, nil}, result: reviewRefused},
		"for an audience that nobody asked for": {
			answer: func(authenticationv1.TokenReviewSpec) (authenticationv1.TokenReviewStatus, error) {
				return authenticationv1.TokenReviewStatus{Authenticated: true, User: engine, Audiences: []string{"vault"}}, nil
			},
			asked: [][]string{{"inferencecache.io"}, nil}, result: reviewTaken,
		},
		"a cluster that knows no audiences": {
			answer: func(authenticationv1.TokenReviewSpec) (authenticationv1.TokenReviewStatus, error) {
				return authenticationv1.TokenReviewStatus{Authenticated: true, User: engine}, nil
			},
			asked: [][]string{{"inferencecache.io"}}, result: reviewTaken,
		},
		"malformed": {answer: failing(http.StatusBadRequest), code: codes.Unknown, text: wrong,
			asked: [][]string{{"inferencecache.io"}, nil}, result: reviewRefused},
		"cluster in trouble": {answer: failing(http.StatusInternalServerError), code: codes.Unavailable, text: down,
			asked: [][]string{{"inferencecache.io"}}, result: reviewFailed},
		"cluster too busy": {answer: failing(http.StatusTooManyRequests), code: codes.Unavailable, text: down,
			asked: [][]string{{"inferencecache.io"}}, result: reviewFailed},
		"we may not ask": {answer: failing(http.StatusForbidden), code: codes.Unavailable, text: down,
			asked: [][]string{{"inferencecache.io"}}, result: reviewFailed},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			metrics, err := newAccessMetrics(prometheus.NewRegistry())
			if err != nil {
				t.Fatal(err)
			}
			cluster := &tokenReviewer{answer: test.answer}
			who, err := newTokenReviews(cluster, metrics).Authenticate(t.Context(), "token")
			if status.Code(err) != test.code || err != nil && status.Convert(err).Message() != test.text {
				t.Fatalf("got %v, want %s: %s", err, test.code, test.text)
			}
			if diff := cmp.Diff(test.asked, cluster.asked); diff != "" {
				t.Errorf("audiences of the reviews (-want +got):\n%s", diff)
			}
			if testutil.ToFloat64(metrics.reviews.WithLabelValues(test.result)) == 0 {
				t.Errorf("no review counted as %s", test.result)
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff(whole, who); diff != "" {
				t.Errorf("identity (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReviewsAtOnceAreBounded holds as many reviews as may be under way.
func TestReviewsAtOnceAreBounded(t *testing.T) {
	metrics, err := newAccessMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	reviews := newTokenReviews(&tokenReviewer{answer: func(authenticationv1.TokenReviewSpec) (authenticationv1.TokenReviewStatus, error) {
		t.Error("one review too many")
		return authenticationv1.TokenReviewStatus{}, nil
	}}, metrics)
	for range reviewsAtOnce {
		reviews.slots <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := reviews.Authenticate(ctx, "token"); status.Code(err) != codes.Unavailable {
		t.Errorf("got %v, want Unavailable", err)
	}
}
