/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	typed "inferencecache.io/inference-cache/pkg/generated/clientset/versioned/typed/inferencecache/v1alpha1"
	listers "inferencecache.io/inference-cache/pkg/generated/listers/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/index"
)

// Annotations that the webhook leaves on a Pod which it wired to a CacheBackend.
const (
	injectedBy    = "inferencecache.io/injected-by"
	injectedByUID = "inferencecache.io/injected-by-uid"
)

// readEvery is how often the CacheBackends of a namespace are read from storage, for
// engines that know of one which the informer does not show yet.
const readEvery = time.Second

// attribution says which CacheBackend an engine's Pod counts for: the one that it was
// wired to, else the first by name whose selector matches it, else none.
type attribution struct {
	known  listers.CacheBackendLister
	client typed.CacheBackendsGetter
	clock  clock.PassiveClock
	asking singleflight.Group

	mu sync.Mutex
	// read are the namespaces that were read from storage lately.
	read map[string]backendsRead
}

type backendsRead struct {
	backends []*v1alpha1.CacheBackend
	until    time.Time
}

// of returns the backend of a Pod by what the informer shows.
func (a *attribution) of(pod *enginePod) index.Backend {
	backends, err := a.known.CacheBackends(pod.Namespace).List(labels.Everything())
	if err != nil {
		return index.Backend{} // a lister over memory has no errors
	}
	backend, _ := attribute(pod, backends)
	return backend
}

// resolve returns the backend of a Pod, and what the informer shows of it, which may
// be behind. Storage is read when the Pod was wired to a backend that the informer
// does not show, or when the engine names another backend.
func (a *attribution) resolve(ctx context.Context, pod *enginePod, named index.Backend) (actual, shown index.Backend, err error) {
	backends, err := a.known.CacheBackends(pod.Namespace).List(labels.Everything())
	if err != nil {
		return index.Backend{}, index.Backend{}, fmt.Errorf("list CacheBackends: %w", err)
	}
	shown, wired := attribute(pod, backends)
	if wired && (named == index.Backend{} || named == shown) {
		return shown, shown, nil
	}
	if backends, err = a.readNamespace(ctx, pod.Namespace); err != nil {
		return index.Backend{}, index.Backend{}, err
	}
	actual, _ = attribute(pod, backends)
	return actual, shown, nil
}

// readNamespace reads the CacheBackends of a namespace from storage, at most once per
// readEvery for all who ask.
func (a *attribution) readNamespace(ctx context.Context, namespace string) ([]*v1alpha1.CacheBackend, error) {
	a.mu.Lock()
	now := a.clock.Now()
	maps.DeleteFunc(a.read, func(_ string, r backendsRead) bool { return !now.Before(r.until) })
	read, ok := a.read[namespace]
	a.mu.Unlock()
	if ok {
		return read.backends, nil
	}
	asked := a.asking.DoChan(namespace, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), clusterTimeout)
		defer cancel()
		list, err := a.client.CacheBackends(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, fmt.Errorf("read CacheBackends of namespace %s: %w", namespace, err)
		}
		backends := make([]*v1alpha1.CacheBackend, len(list.Items))
		for i := range list.Items {
			backends[i] = &list.Items[i]
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.read == nil {
			a.read = map[string]backendsRead{}
		}
		a.read[namespace] = backendsRead{backends: backends, until: a.clock.Now().Add(readEvery)}
		return backends, nil
	})
	select {
	case answer := <-asked:
		if answer.Err != nil {
			return nil, answer.Err
		}
		return answer.Val.([]*v1alpha1.CacheBackend), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// attribute chooses among the backends of a Pod's namespace. The annotations count
// when they name one of them, and the UID of just that one: whoever writes Pods writes
// annotations, and a backend that was made anew has not wired anybody yet. It also
// returns whether the annotations, if there are any, were found to be true.
func attribute(pod *enginePod, backends []*v1alpha1.CacheBackend) (backend index.Backend, wired bool) {
	named, ok := parseInjectedBy(pod.injectedBy)
	ok = ok && pod.injectedByUID != "" && named.Namespace == pod.Namespace
	var first *v1alpha1.CacheBackend
	for _, b := range backends {
		if ok && b.Name == named.Name && b.UID == types.UID(pod.injectedByUID) {
			return index.Backend(named), true
		}
		if selects(b, pod.labels) && (first == nil || b.Name < first.Name) {
			first = b
		}
	}
	if first == nil {
		return index.Backend{}, !ok
	}
	return index.Backend{Namespace: first.Namespace, Name: first.Name}, !ok
}

// selects reports whether a backend claims Pods with these labels. One without labels
// to look for claims none.
func selects(b *v1alpha1.CacheBackend, has map[string]string) bool {
	wants := selectorOf(b)
	if len(wants) == 0 {
		return false
	}
	for key, value := range wants {
		if got, ok := has[key]; !ok || got != value {
			return false
		}
	}
	return true
}

func selectorOf(b *v1alpha1.CacheBackend) map[string]string {
	if b.Spec.EngineSelector == nil {
		return nil
	}
	return b.Spec.EngineSelector.MatchLabels
}

// parseInjectedBy reads the annotation of that name, "<namespace>/<name>".
func parseInjectedBy(annotation string) (types.NamespacedName, bool) {
	namespace, name, ok := strings.Cut(annotation, "/")
	if !ok || len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
		return types.NamespacedName{}, false
	}
	return types.NamespacedName{Namespace: namespace, Name: name}, true
}

// followAttribution calls changed with the namespace of every CacheBackend that came,
// went, was made anew or selects other Pods. What else happens to one moves no engine.
func followAttribution(informer cache.SharedIndexInformer, changed func(namespace string)) (cache.InformerSynced, error) {
	notice := func(obj any) {
		if last, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = last.Obj
		}
		if b, ok := obj.(*v1alpha1.CacheBackend); ok {
			changed(b.Namespace)
		}
	}
	handle, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: notice,
		UpdateFunc: func(before, after any) {
			b, ok := before.(*v1alpha1.CacheBackend)
			a, also := after.(*v1alpha1.CacheBackend)
			if ok && also && (b.UID != a.UID || !maps.Equal(selectorOf(b), selectorOf(a))) {
				changed(a.Namespace)
			}
		},
		DeleteFunc: notice,
	})
	if err != nil {
		return nil, fmt.Errorf("follow CacheBackends: %w", err)
	}
	return handle.HasSynced, nil
}
