/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cacheindex

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	testingclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/registry/table/tabletest"
	"inferencecache.io/inference-cache/pkg/registry/virtual"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// fakeReader shows an index with a number of prefixes.
type fakeReader struct{ prefixes int64 }

func (f fakeReader) Get(context.Context) (*inferencecache.CacheIndex, uint64, error) {
	index := &inferencecache.CacheIndex{}
	index.Status.Prefixes.Summary.Total = f.prefixes
	return index, 5, nil
}

func (fakeReader) Subscribe(context.Context) <-chan struct{} { return make(chan struct{}) }

func newTestREST() (*REST, virtual.Versions) {
	versions := virtual.NewVersions(7)
	return NewREST(fakeReader{prefixes: 12}, versions, testingclock.NewFakeClock(now)), versions
}

func TestGetAndList(t *testing.T) {
	rest, versions := newTestREST()
	obj, err := rest.Get(t.Context(), "cluster-default", &metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := fakeReader{prefixes: 12}.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want.Name, want.ResourceVersion = "cluster-default", versions.Format(5)
	if diff := cmp.Diff(want, obj); diff != "" {
		t.Errorf("object (-want +got):\n%s", diff)
	}
	if _, err := rest.Get(t.Context(), "other", &metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("another name: %v, want not found", err)
	}
	list, err := rest.List(t.Context(), &metainternalversion.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	wantList := &inferencecache.CacheIndexList{
		ListMeta: metav1.ListMeta{ResourceVersion: versions.Format(5)},
		Items:    []inferencecache.CacheIndex{*want},
	}
	if diff := cmp.Diff(wantList, list); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
}

func TestWatchEndsItsInitialEvents(t *testing.T) {
	rest, _ := newTestREST()
	w, err := rest.Watch(t.Context(), &metainternalversion.ListOptions{SendInitialEvents: ptr.To(true), AllowWatchBookmarks: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	added, bookmark := <-w.ResultChan(), <-w.ResultChan()
	if added.Type != watch.Added || bookmark.Type != watch.Bookmark {
		t.Fatalf("events %s and %s, want ADDED and BOOKMARK", added.Type, bookmark.Type)
	}
	index, ok := bookmark.Object.(*inferencecache.CacheIndex)
	if !ok || index.Annotations[metav1.InitialEventsAnnotationKey] != "true" {
		t.Errorf("the bookmark does not end the initial events: %+v", bookmark.Object)
	}
}

func TestTable(t *testing.T) {
	index := &inferencecache.CacheIndex{
		ObjectMeta: metav1.ObjectMeta{Name: "cluster-default", CreationTimestamp: metav1.NewTime(now.Add(-time.Hour))},
		Status: inferencecache.CacheIndexStatus{
			ObservedBy: "server-0", Complete: true,
			LastUpdated: ptr.To(metav1.NewTime(now.Add(-5 * time.Second))),
			Prefixes:    inferencecache.CacheIndexPrefixes{Summary: inferencecache.CacheIndexPrefixSummary{Total: 12}},
			Backends:    make([]inferencecache.CacheIndexBackend, 1),
			Replicas:    make([]inferencecache.CacheIndexReplica, 2),
			Tenants:     make([]inferencecache.CacheIndexTenant, 3),
		},
	}
	tests := map[string]struct {
		index *inferencecache.CacheIndex
		wide  bool
		want  string
	}{
		"narrow": {index: index, want: `
NAME              PREFIXES   CHANGED   AGE
cluster-default   12         5s        60m
`},
		"wide": {index: index, wide: true, want: `
NAME              PREFIXES   CHANGED   AGE   BACKENDS   REPLICAS   TENANTS   COMPLETE   OBSERVEDBY
cluster-default   12         5s        60m   1          2          3         true       server-0
`},
		"nothing yet": {index: &inferencecache.CacheIndex{}, want: `
NAME   PREFIXES   CHANGED   AGE
       0          <none>    <none>
`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := tabletest.Print(t, newTable(testingclock.NewFakePassiveClock(now)), test.index, test.wide)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("table (-want +got):\n%s", diff)
			}
		})
	}
}
