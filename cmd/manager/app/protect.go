/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package app

import (
	"context"
	"crypto/sha256"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilcache "k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const (
	// reviewTimeout bounds the questions that a request makes us ask the cluster.
	reviewTimeout = 10 * time.Second
	// allowedFor and deniedFor are how long the cluster's answer stands.
	allowedFor, deniedFor = time.Minute, 10 * time.Second
	// knownCallers bounds what is remembered. Scrapers are few.
	knownCallers = 64
	// longestToken is far above any that a cluster issues.
	longestToken = 16 << 10
)

// protector lets through whom the cluster knows by a bearer token and allows to
// make the request.
type protector struct {
	client  kubernetes.Interface
	answers *utilcache.LRUExpireCache
}

// caller is a remembered question. It has no token, only what cannot be turned
// back into one.
type caller struct {
	token        [sha256.Size]byte
	method, path string
}

// protect is the filter of the metrics server.
func protect(config *rest.Config, httpClient *http.Client) (metricsserver.Filter, error) {
	client, err := kubernetes.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, err
	}
	return newProtector(client).filter, nil
}

func newProtector(client kubernetes.Interface) *protector {
	return &protector{client: client, answers: utilcache.NewLRUExpireCache(knownCallers)}
}

// filter implements metricsserver.Filter.
func (p *protector) filter(logger logr.Logger, handler http.Handler) (http.Handler, error) {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, err := p.review(r)
		switch {
		case err != nil:
			logger.Error(err, "Asking the cluster about a caller failed", "path", r.URL.Path)
			http.Error(w, "the cluster could not be asked who may do this", http.StatusInternalServerError)
		case status != http.StatusOK:
			http.Error(w, http.StatusText(status), status)
		default:
			handler.ServeHTTP(w, r)
		}
	}), nil
}

// review returns what a request is answered with: 200 if it may go on.
func (p *protector) review(r *http.Request) (status int, err error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if token = strings.TrimSpace(token); !strings.EqualFold(scheme, "Bearer") || token == "" || len(token) > longestToken {
		return http.StatusUnauthorized, nil
	}
	key := caller{token: sha256.Sum256([]byte(token)), method: r.Method, path: r.URL.Path}
	if known, ok := p.answers.Get(key); ok {
		return known.(int), nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), reviewTimeout)
	defer cancel()
	if status, err = p.ask(ctx, token, key); err != nil {
		return 0, err
	}
	standing := deniedFor
	if status == http.StatusOK {
		standing = allowedFor
	}
	p.answers.Add(key, status, standing)
	return status, nil
}

// ask has the cluster say whose the token is, and whether they may do it.
func (p *protector) ask(ctx context.Context, token string, c caller) (status int, err error) {
	known, err := p.client.AuthenticationV1().TokenReviews().Create(ctx,
		&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
	if err != nil {
		return 0, err
	}
	if !known.Status.Authenticated {
		return http.StatusUnauthorized, nil
	}
	user := known.Status.User
	extra := make(map[string]authorizationv1.ExtraValue, len(user.Extra))
	for name, value := range user.Extra {
		extra[name] = authorizationv1.ExtraValue(value)
	}
	allowed, err := p.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra,
			NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: c.path, Verb: strings.ToLower(c.method)},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return 0, err
	}
	if !allowed.Status.Allowed {
		return http.StatusForbidden, nil
	}
	return http.StatusOK, nil
}
