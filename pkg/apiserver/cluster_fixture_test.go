/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"inferencecache.io/inference-cache/pkg/apiserver"
	"inferencecache.io/inference-cache/pkg/generated/clientset/versioned"
)

// requestInfo says what a request to a kube-apiserver is about.
var requestInfo = &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}

// decode reads the object that a client sent, in whatever form it prefers.
func decode(w http.ResponseWriter, r *http.Request, into runtime.Object) bool {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		_, _, err = scheme.Codecs.UniversalDeserializer().Decode(body, nil, into)
	}
	if err != nil {
		fail(w, http.StatusBadRequest, metav1.StatusReasonBadRequest)
	}
	return err == nil
}

// requests are what a server asked a cluster for, as right and verb. Asking for
// one's own rights is not among them.
type requests struct {
	mu  sync.Mutex
	all map[string]bool
}

func (r *requests) add(info *request.RequestInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[string]bool{}
	}
	right := apiserver.Right{Group: info.APIGroup, Resource: info.Resource, Subresource: info.Subresource}
	if info.IsResourceRequest && info.Resource != "selfsubjectaccessreviews" {
		r.all[info.Verb+" "+right.String()] = true
	}
}

func (r *requests) get() map[string]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.all)
}

// refusals are what a server may not do in a cluster, as verb and resource.
type refusals struct {
	mu  sync.Mutex
	all []string
}

// set replaces what is refused.
func (r *refusals) set(all ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = all
}

func (r *refusals) has(verb, resource, subresource string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if subresource != "" {
		resource += "/" + subresource
	}
	return slices.Contains(r.all, verb+" "+resource)
}

func (r *refusals) review(w http.ResponseWriter, req *http.Request) {
	var review authorizationv1.SelfSubjectAccessReview
	if !decode(w, req, &review) {
		return
	}
	a := review.Spec.ResourceAttributes
	review.Status.Allowed = a != nil && !r.has(a.Verb, a.Resource, a.Subresource)
	answer(w, http.StatusCreated, review)
}

// quotas are the ResourceQuotas of a cluster. The zero value is usable.
type quotas struct {
	mu       sync.Mutex
	version  int
	items    []corev1.ResourceQuota
	watchers []chan corev1.ResourceQuota
}

// set writes a quota, as its user and the quota controller do.
func (q *quotas) set(quota corev1.ResourceQuota) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.write(quota)
}

// write needs the lock.
func (q *quotas) write(quota corev1.ResourceQuota) corev1.ResourceQuota {
	q.version++
	quota.ResourceVersion = strconv.Itoa(q.version)
	if i := q.find(quota.Namespace, quota.Name); i >= 0 {
		q.items[i] = quota
	} else {
		q.items = append(q.items, quota)
	}
	for _, w := range q.watchers {
		w <- quota
	}
	return quota
}

func (q *quotas) find(namespace, name string) int {
	return slices.IndexFunc(q.items, func(i corev1.ResourceQuota) bool { return i.Namespace == namespace && i.Name == name })
}

// used returns the count of a resource in the quota of a namespace.
func (q *quotas) used(t *testing.T, namespace string, resource corev1.ResourceName) int64 {
	t.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	i := q.find(namespace, "objects")
	if i < 0 {
		t.Fatalf("namespace %s has no quota", namespace)
	}
	count := q.items[i].Status.Used[resource]
	return count.Value()
}

func (q *quotas) serve(w http.ResponseWriter, r *http.Request, info *request.RequestInfo) {
	switch {
	case info.Verb == "watch":
		q.watch(w, r)
	case info.Verb == "list":
		q.mu.Lock()
		defer q.mu.Unlock()
		list := corev1.ResourceQuotaList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ResourceQuotaList"}}
		list.ResourceVersion = strconv.Itoa(q.version)
		for _, i := range q.items {
			if info.Namespace == "" || info.Namespace == i.Namespace {
				list.Items = append(list.Items, i)
			}
		}
		answer(w, http.StatusOK, list)
	case info.Verb == "update" && info.Subresource == "status":
		q.updateStatus(w, r, info)
	default:
		fail(w, http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed)
	}
}

// updateStatus refuses a write that is not based on the latest version.
func (q *quotas) updateStatus(w http.ResponseWriter, r *http.Request, info *request.RequestInfo) {
	var update corev1.ResourceQuota
	if !decode(w, r, &update) {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	i := q.find(info.Namespace, info.Name)
	if i < 0 {
		fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
		return
	}
	if q.items[i].ResourceVersion != update.ResourceVersion {
		fail(w, http.StatusConflict, metav1.StatusReasonConflict)
		return
	}
	quota := q.items[i]
	quota.Status = update.Status
	answer(w, http.StatusOK, q.write(quota))
}

// watch sends every later version, and first those that came after the list that
// the watch continues.
func (q *quotas) watch(w http.ResponseWriter, r *http.Request) {
	since, err := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	if err != nil {
		answer(w, http.StatusBadRequest, nil)
		return
	}
	// No test writes more often.
	events := make(chan corev1.ResourceQuota, 1000)
	q.mu.Lock()
	for _, i := range q.items {
		if version, err := strconv.Atoi(i.ResourceVersion); err == nil && version > since {
			events <- i
		}
	}
	q.watchers = append(q.watchers, events)
	q.mu.Unlock()

	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	for {
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
			return
		case quota := <-events:
			quota.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ResourceQuota"}
			if err := json.NewEncoder(w).Encode(map[string]any{"type": "MODIFIED", "object": quota}); err != nil {
				return
			}
		}
	}
}

// clusterClient returns a client of a server in a cluster.
func clusterClient(t *testing.T, address, token string) versioned.Interface {
	t.Helper()
	return clientset(t, clusterConfig(address, token))
}

func clusterConfig(address, token string) *rest.Config {
	return &rest.Config{Host: "https://" + address, BearerToken: token, QPS: -1, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
}
