/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conformance

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/generated/informers/externalversions"
)

// patience bounds every wait. It only decides when a broken server is given up
// on; a reflector that is never told the end of its list waits for ever.
const patience = time.Minute

// testReflectors syncs the generated and the dynamic informer of everything that
// can be listed and watched.
func testReflectors(t *testing.T, s *suite) {
	for _, resource := range s.with(t, "list", "watch") {
		t.Run(resource.Name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if resource.Namespaced {
				s.create(t, resource, "reflectors", "first")
			}
			gvr := v1alpha1.SchemeGroupVersion.WithResource(resource.Name)
			generated, err := externalversions.NewSharedInformerFactory(s.clients, 0).ForResource(gvr)
			if err != nil {
				t.Fatal(err)
			}
			dynamic := dynamicinformer.NewDynamicSharedInformerFactory(s.dynamic, 0).ForResource(gvr)
			for name, informer := range map[string]cache.SharedIndexInformer{"generated": generated.Informer(), "dynamic": dynamic.Informer()} {
				go informer.RunWithContext(ctx)
				if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
					t.Fatalf("the %s informer did not sync", name)
				}
				if len(informer.GetStore().List()) == 0 {
					t.Errorf("the %s informer synced to nothing", name)
				}
			}
		})
	}
}

// next returns the next event of a watch, or fails the test.
func next(t *testing.T, w watch.Interface) watch.Event {
	t.Helper()
	select {
	case event, open := <-w.ResultChan():
		if !open {
			t.Fatal("the watch ended")
		}
		return event
	case <-time.After(patience):
		t.Fatal("no event")
	}
	return watch.Event{}
}

// testStreamingLists reads each list as a stream: all objects as ADDED and the
// bookmark that says that there are no more.
func testStreamingLists(t *testing.T, s *suite) {
	for _, resource := range s.with(t, "list", "watch") {
		t.Run(resource.Name, func(t *testing.T) {
			const namespace = "streams"
			want := 1
			if resource.Namespaced {
				s.createApart(t, resource, namespace, "a")
				s.createApart(t, resource, namespace, "b")
				want = 2
			}
			client, selector := s.together(t, resource, namespace)
			w, err := client.Watch(t.Context(), metav1.ListOptions{
				LabelSelector:        selector,
				SendInitialEvents:    ptr.To(true),
				ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
				AllowWatchBookmarks:  true,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Stop()
			for range want {
				if event := next(t, w); event.Type != watch.Added {
					t.Fatalf("event %s, want ADDED", event.Type)
				}
			}
			end := next(t, w)
			obj, ok := end.Object.(*unstructured.Unstructured)
			if end.Type != watch.Bookmark || !ok || obj.GetAnnotations()[metav1.InitialEventsAnnotationKey] != "true" || obj.GetResourceVersion() == "" {
				t.Errorf("the initial events end with %s %v", end.Type, end.Object)
			}
		})
	}
}

// testListThenWatch continues from the version of a list, as clients did before
// streaming lists and still do when they are refused.
func testListThenWatch(t *testing.T, s *suite) {
	for _, resource := range s.with(t, "list", "watch") {
		t.Run(resource.Name, func(t *testing.T) {
			const namespace = "lists"
			client := s.client(t, resource, namespace)
			list, err := client.List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			options := metav1.ListOptions{ResourceVersion: list.GetResourceVersion(), TimeoutSeconds: ptr.To[int64](2)}
			if resource.Namespaced {
				options.TimeoutSeconds = nil
			}
			w, err := client.Watch(t.Context(), options)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Stop()
			if !resource.Namespaced {
				// A virtual kind changes when it likes; what counts is that the
				// version is accepted and the stream ends as asked.
				for event := range w.ResultChan() {
					if event.Type == watch.Error {
						t.Errorf("error event %v", event.Object)
					}
				}
				return
			}
			s.create(t, resource, namespace, "new")
			event := next(t, w)
			if obj, ok := event.Object.(*unstructured.Unstructured); event.Type != watch.Added || !ok || obj.GetName() != "new" {
				t.Errorf("event %s %v, want ADDED new", event.Type, event.Object)
			}
		})
	}
}
