/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// engines are Pods of a cluster, and tokens that are bound to them. A token says
// itself what it is for: "<audience> <namespace>/<pod>/<uid>", where the audience "own"
// is the cluster's. The zero value has no Pods.
type engines struct {
	mu   sync.Mutex
	pods map[string]metav1.PartialObjectMetadata
	// down makes the cluster refuse reviews and Pods as an overloaded one does.
	down atomic.Bool
	// reviews and reads count requests.
	reviews, reads atomic.Int64
}

// set makes or replaces a Pod, named "<namespace>/<name>".
func (e *engines) set(name, uid string, labels, annotations map[string]string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.pods == nil {
		e.pods = map[string]metav1.PartialObjectMetadata{}
	}
	pod := metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"}}
	pod.UID, pod.Labels, pod.Annotations = types.UID(uid), labels, annotations
	pod.Namespace, pod.Name, _ = strings.Cut(name, "/")
	e.pods[name] = pod
}

func (e *engines) servePod(w http.ResponseWriter, info *request.RequestInfo) {
	e.reads.Add(1)
	e.mu.Lock()
	pod, ok := e.pods[info.Namespace+"/"+info.Name]
	e.mu.Unlock()
	switch {
	case e.down.Load():
		fail(w, http.StatusInternalServerError, metav1.StatusReasonInternalError)
	case !ok:
		fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
	default:
		answer(w, http.StatusOK, pod)
	}
}

// review decides on the token of an engine. It answers itself when the cluster is
// down, and returns false then.
func (e *engines) review(w http.ResponseWriter, review *authenticationv1.TokenReview) bool {
	e.reviews.Add(1)
	if e.down.Load() {
		fail(w, http.StatusInternalServerError, metav1.StatusReasonInternalError)
		return false
	}
	audience, pod, ok := strings.Cut(review.Spec.Token, " ")
	asked := review.Spec.Audiences
	if len(asked) == 0 {
		asked = []string{"own"}
	}
	if !ok || !slices.Contains(asked, audience) {
		return true
	}
	parts := strings.Split(pod, "/")
	review.Status = authenticationv1.TokenReviewStatus{
		Authenticated: true, Audiences: []string{audience},
		User: authenticationv1.UserInfo{Username: "system:serviceaccount:" + parts[0] + ":engine"},
	}
	if len(parts) == 3 {
		review.Status.User.Extra = map[string]authenticationv1.ExtraValue{
			"authentication.kubernetes.io/pod-name":  {parts[1]},
			"authentication.kubernetes.io/pod-uid":   {parts[2]},
			"authentication.kubernetes.io/node-name": {"node-1"},
		}
	}
	return true
}
