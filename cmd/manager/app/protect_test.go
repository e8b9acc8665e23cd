/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package app

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// cluster knows the tokens "allowed", "denied" and "broken".
func cluster(t *testing.T) (*fake.Clientset, *int) {
	t.Helper()
	client, asked := fake.NewClientset(), 0
	client.PrependReactor("create", "tokenreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
		asked++
		review := action.(clienttesting.CreateAction).GetObject().(*authenticationv1.TokenReview)
		if review.Spec.Token == "broken" {
			return true, nil, errors.New("the cluster is away")
		}
		review.Status.Authenticated = review.Spec.Token == "allowed" || review.Spec.Token == "denied"
		review.Status.User = authenticationv1.UserInfo{
			Username: review.Spec.Token, Groups: []string{"group"}, Extra: map[string]authenticationv1.ExtraValue{"pod": {"a"}},
		}
		return true, review, nil
	})
	client.PrependReactor("create", "subjectaccessreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
		review := action.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview)
		spec := review.Spec
		review.Status.Allowed = spec.User == "allowed" && spec.NonResourceAttributes.Path == "/metrics" && spec.NonResourceAttributes.Verb == "get" &&
			len(spec.Groups) == 1 && len(spec.Extra) == 1
		return true, review, nil
	})
	return client, &asked
}

func TestProtect(t *testing.T) {
	tests := map[string]struct {
		method, path, authorization string
		want                        int
	}{
		"allowed":         {authorization: "Bearer allowed", want: http.StatusOK},
		"another case":    {authorization: "bearer  allowed ", want: http.StatusOK},
		"denied":          {authorization: "Bearer denied", want: http.StatusForbidden},
		"another path":    {path: "/debug", authorization: "Bearer allowed", want: http.StatusForbidden},
		"another verb":    {method: http.MethodPost, authorization: "Bearer allowed", want: http.StatusForbidden},
		"nobody":          {want: http.StatusUnauthorized},
		"no token":        {authorization: "Bearer ", want: http.StatusUnauthorized},
		"another scheme":  {authorization: "Basic allowed", want: http.StatusUnauthorized},
		"a forger":        {authorization: "Bearer forged", want: http.StatusUnauthorized},
		"a long token":    {authorization: "Bearer " + strings.Repeat("x", longestToken+1), want: http.StatusUnauthorized},
		"cluster is away": {authorization: "Bearer broken", want: http.StatusInternalServerError},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			client, asked := cluster(t)
			handler, err := newProtector(client).filter(logr.Discard(), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusOK)
			}))
			if err != nil {
				t.Fatal(err)
			}
			if tc.method == "" {
				tc.method = http.MethodGet
			}
			if tc.path == "" {
				tc.path = "/metrics"
			}
			for range 2 {
				request := httptest.NewRequestWithContext(t.Context(), tc.method, tc.path, http.NoBody)
				request.Header.Set("Authorization", tc.authorization)
				answer := httptest.NewRecorder()
				handler.ServeHTTP(answer, request)
				if answer.Code != tc.want {
					t.Errorf("got %d, want %d", answer.Code, tc.want)
				}
			}
			if most := 1; *asked > most && tc.want != http.StatusInternalServerError {
				t.Errorf("the cluster was asked %d times for one caller", *asked)
			}
		})
	}
}
