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
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// objects are those objects of a cluster that a server registers itself with, and
// its Events: whatever a test puts there, and what the server writes. The zero value is usable.
type objects struct {
	mu       sync.Mutex
	version  int
	all      map[string]*unstructured.Unstructured
	watchers map[chan watchEvent]string
	// owned says who else manages a field of an object, by key.
	owned map[string]string
	// writes are the writes that were accepted, as verb and key.
	writes []string
}

type watchEvent struct {
	Type   string                     `json:"type"`
	Object *unstructured.Unstructured `json:"object"`
}

// stored are the resources that objects answers for.
var stored = []string{"secrets", "apiservices", "customresourcedefinitions", "clusterroles", "events"}

// serves reports whether a request is about such objects.
func (o *objects) serves(info *request.RequestInfo) bool {
	return slices.Contains(stored, info.Resource) || info.Resource == "configmaps" && info.Namespace != "kube-system"
}

func objectKey(resource, namespace, name string) string {
	return resource + "/" + namespace + "/" + name
}

// put writes an object given as YAML, as a person would.
func (o *objects) put(t *testing.T, resource, manifest string) {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &object.Object); err != nil {
		t.Fatal(err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if object.GetUID() == "" {
		object.SetUID(types.UID("uid-of-" + object.GetName()))
	}
	o.store(objectKey(resource, object.GetNamespace(), object.GetName()), object)
}

// remove deletes an object, if it is there.
func (o *objects) remove(resource, namespace, name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := objectKey(resource, namespace, name)
	if object := o.all[key]; object != nil {
		delete(o.all, key)
		o.send(key, watchEvent{Type: "DELETED", Object: object})
	}
}

// get returns an object, or nil.
func (o *objects) get(resource, namespace, name string) *unstructured.Unstructured {
	o.mu.Lock()
	defer o.mu.Unlock()
	if object := o.all[objectKey(resource, namespace, name)]; object != nil {
		return object.DeepCopy()
	}
	return nil
}

// own makes every apply to an object a conflict with another manager.
func (o *objects) own(resource, namespace, name, manager string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.owned == nil {
		o.owned = map[string]string{}
	}
	o.owned[objectKey(resource, namespace, name)] = manager
}

// written returns the writes until now.
func (o *objects) written() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.writes)
}

// store needs the lock.
func (o *objects) store(key string, object *unstructured.Unstructured) {
	if o.all == nil {
		o.all = map[string]*unstructured.Unstructured{}
	}
	o.version++
	object.SetResourceVersion(strconv.Itoa(o.version))
	event := watchEvent{Type: "MODIFIED", Object: object}
	if o.all[key] == nil {
		event.Type = "ADDED"
	}
	o.all[key] = object
	o.send(key, event)
}

// send needs the lock.
func (o *objects) send(key string, event watchEvent) {
	for w, prefix := range o.watchers {
		if strings.HasPrefix(key, prefix) {
			w <- event
		}
	}
}

func (o *objects) serve(w http.ResponseWriter, r *http.Request, info *request.RequestInfo) {
	switch info.Verb {
	case "watch":
		o.watch(w, r, info)
	case "list":
		o.list(w, r, info)
	default:
		o.serveOne(w, r, info)
	}
}

func (o *objects) serveOne(w http.ResponseWriter, r *http.Request, info *request.RequestInfo) {
	var sent unstructured.Unstructured
	if info.Verb != "get" && !readObject(w, r, &sent) {
		return
	}
	name := info.Name
	if info.Verb == "create" {
		name = sent.GetName()
	}
	key := objectKey(info.Resource, info.Namespace, name)
	o.mu.Lock()
	defer o.mu.Unlock()
	current := o.all[key]
	switch {
	case info.Verb == "create" && current != nil:
		fail(w, http.StatusConflict, metav1.StatusReasonAlreadyExists)
	case info.Verb != "create" && info.Verb != "patch" && current == nil:
		fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
	case info.Verb == "get":
		answer(w, http.StatusOK, current)
	case info.Verb == "patch":
		o.apply(w, key, current, &sent)
	case info.Verb == "update" && sent.GetResourceVersion() != current.GetResourceVersion():
		fail(w, http.StatusConflict, metav1.StatusReasonConflict)
	default:
		o.writes = append(o.writes, info.Verb+" "+key)
		o.store(key, &sent)
		answer(w, http.StatusOK, &sent)
	}
}

// apply is server-side apply as far as it matters here: the fields that were sent,
// except those of another manager, on the object that was meant. It needs the lock.
func (o *objects) apply(w http.ResponseWriter, key string, current, sent *unstructured.Unstructured) {
	if current == nil {
		current = &unstructured.Unstructured{Object: map[string]any{}}
	}
	if manager := o.owned[key]; manager != "" {
		answer(w, http.StatusConflict, metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonConflict, Code: http.StatusConflict,
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{
				Type: metav1.CauseTypeFieldManagerConflict, Message: "conflict with \"" + manager + "\"", Field: ".spec.caBundle",
			}}},
		})
		return
	}
	if v := sent.GetResourceVersion(); v != "" && v != current.GetResourceVersion() || sent.GetUID() != "" && sent.GetUID() != current.GetUID() {
		fail(w, http.StatusConflict, metav1.StatusReasonConflict)
		return
	}
	next := current.DeepCopy()
	merge(next.Object, sent.Object)
	o.writes = append(o.writes, "patch "+key)
	o.store(key, next)
	answer(w, http.StatusOK, next)
}

func merge(into, from map[string]any) {
	for k, v := range from {
		inner, isMap := v.(map[string]any)
		old, wasMap := into[k].(map[string]any)
		if isMap && wasMap {
			merge(old, inner)
			continue
		}
		into[k] = v
	}
}

// readObject reads an object in any form that clients send: of a known kind in
// protobuf, else JSON or YAML.
func readObject(w http.ResponseWriter, r *http.Request, into *unstructured.Unstructured) bool {
	body, err := io.ReadAll(r.Body)
	if err == nil && strings.Contains(r.Header.Get("Content-Type"), "protobuf") {
		var typed runtime.Object
		if typed, _, err = scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil); err == nil {
			into.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
		}
	} else if err == nil {
		err = yaml.Unmarshal(body, &into.Object)
	}
	if err != nil {
		fail(w, http.StatusBadRequest, metav1.StatusReasonBadRequest)
	}
	return err == nil
}

// selected returns the keys that a list or a watch is about, as their common start.
func selected(r *http.Request, info *request.RequestInfo) string {
	name, _ := strings.CutPrefix(r.URL.Query().Get("fieldSelector"), "metadata.name=")
	return objectKey(info.Resource, info.Namespace, name)
}

func (o *objects) list(w http.ResponseWriter, r *http.Request, info *request.RequestInfo) {
	o.mu.Lock()
	defer o.mu.Unlock()
	items := []any{}
	for _, key := range slices.Sorted(maps.Keys(o.all)) {
		if strings.HasPrefix(key, selected(r, info)) {
			items = append(items, o.all[key])
		}
	}
	version, kind := info.APIGroup+"/"+info.APIVersion, "List"
	if strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadataList") {
		version, kind = "meta.k8s.io/v1", "PartialObjectMetadataList"
	}
	answer(w, http.StatusOK, map[string]any{
		"apiVersion": version, "kind": kind, "metadata": map[string]any{"resourceVersion": strconv.Itoa(o.version)}, "items": items,
	})
}

// watch sends what changes, and first what the list before it did not have.
func (o *objects) watch(w http.ResponseWriter, r *http.Request, info *request.RequestInfo) {
	since, err := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	if err != nil {
		fail(w, http.StatusBadRequest, metav1.StatusReasonBadRequest)
		return
	}
	// No test writes more often.
	events := make(chan watchEvent, 1000)
	prefix := selected(r, info)
	o.mu.Lock()
	for key, object := range o.all {
		if version, err := strconv.Atoi(object.GetResourceVersion()); err == nil && version > since && strings.HasPrefix(key, prefix) {
			events <- watchEvent{Type: "MODIFIED", Object: object}
		}
	}
	if o.watchers == nil {
		o.watchers = map[chan watchEvent]string{}
	}
	o.watchers[events] = prefix
	o.mu.Unlock()
	defer func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.watchers, events)
	}()

	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	for {
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
			return
		case event := <-events:
			if err := json.NewEncoder(w).Encode(event); err != nil {
				return
			}
		}
	}
}
