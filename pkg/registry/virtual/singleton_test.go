/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package virtual

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
	testingclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
)

// fakeSource serves one object whose annotation tells its revision.
type fakeSource struct {
	mu          sync.Mutex
	revision    uint64
	labels      map[string]string
	err         error
	subscribers []chan struct{}
}

func (s *fakeSource) Read(context.Context) (runtime.Object, uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name:        "only",
		Labels:      s.labels,
		Annotations: map[string]string{"revision": strconv.FormatUint(s.revision, 10)},
	}}, s.revision, s.err
}

func (s *fakeSource) Subscribe(context.Context) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	signals := make(chan struct{}, 1)
	s.subscribers = append(s.subscribers, signals)
	return signals
}

// set changes the state and signals it.
func (s *fakeSource) set(change func(*fakeSource)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
	for _, signals := range s.subscribers {
		select {
		case signals <- struct{}{}:
		default:
		}
	}
}

func newSingleton(source Source) (*Singleton, *testingclock.FakeClock) {
	clock := testingclock.NewFakeClock(time.Unix(1e9, 0))
	return &Singleton{
		Resource:         schema.GroupResource{Group: "example.com", Resource: "things"},
		NewFunc:          func() runtime.Object { return &metav1.PartialObjectMetadata{} },
		NewListFunc:      func() runtime.Object { return &metav1.PartialObjectMetadataList{} },
		Source:           source,
		Versions:         NewVersions(7),
		BookmarkInterval: time.Minute,
		Clock:            clock,
	}, clock
}

func TestSingletonGet(t *testing.T) {
	singleton, _ := newSingleton(&fakeSource{revision: 5})
	version := singleton.Versions.Format
	tests := map[string]struct {
		name, version string
		want          func(error) bool
	}{
		"by name":         {name: "only"},
		"recent enough":   {name: "only", version: version(5)},
		"other name":      {name: "other", want: apierrors.IsNotFound},
		"foreign version": {name: "only", version: "5", want: apierrors.IsResourceExpired},
		"future version":  {name: "only", version: version(6), want: storage.IsTooLargeResourceVersion},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			obj, err := singleton.Get(t.Context(), test.name, &metav1.GetOptions{ResourceVersion: test.version})
			if test.want != nil {
				if !test.want(err) {
					t.Errorf("unexpected outcome %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := obj.(*metav1.PartialObjectMetadata).ResourceVersion; got != version(5) {
				t.Errorf("resourceVersion %s, want %s", got, version(5))
			}
		})
	}
}

func TestSingletonList(t *testing.T) {
	singleton, _ := newSingleton(&fakeSource{revision: 5, labels: map[string]string{"k": "v"}})
	version := singleton.Versions.Format
	tests := map[string]struct {
		options *metainternalversion.ListOptions
		items   int
		want    func(error) bool
	}{
		"no options":       {items: 1},
		"any version":      {options: &metainternalversion.ListOptions{ResourceVersion: "0"}, items: 1},
		"limit":            {options: &metainternalversion.ListOptions{Limit: 1}, items: 1},
		"label matches":    {options: &metainternalversion.ListOptions{LabelSelector: labels.SelectorFromSet(labels.Set{"k": "v"})}, items: 1},
		"label differs":    {options: &metainternalversion.ListOptions{LabelSelector: labels.SelectorFromSet(labels.Set{"k": "w"})}},
		"name matches":     {options: &metainternalversion.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", "only")}, items: 1},
		"name differs":     {options: &metainternalversion.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", "b")}},
		"continue":         {options: &metainternalversion.ListOptions{Continue: "x"}, want: apierrors.IsBadRequest},
		"exactly now":      {options: &metainternalversion.ListOptions{ResourceVersion: version(5), ResourceVersionMatch: metav1.ResourceVersionMatchExact}, items: 1},
		"exactly before":   {options: &metainternalversion.ListOptions{ResourceVersion: version(4), ResourceVersionMatch: metav1.ResourceVersionMatchExact}, want: apierrors.IsResourceExpired},
		"not older":        {options: &metainternalversion.ListOptions{ResourceVersion: version(4), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}, items: 1},
		"another process'": {options: &metainternalversion.ListOptions{ResourceVersion: NewVersions(8).Format(5)}, want: apierrors.IsResourceExpired},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			obj, err := singleton.List(t.Context(), test.options)
			if test.want != nil {
				if !test.want(err) {
					t.Errorf("unexpected outcome %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			list := obj.(*metav1.PartialObjectMetadataList)
			if len(list.Items) != test.items || list.ResourceVersion != version(5) {
				t.Errorf("%d items at %s, want %d at %s", len(list.Items), list.ResourceVersion, test.items, version(5))
			}
		})
	}
}

// patience bounds every wait; it only decides when a broken watch is given up on.
const patience = 30 * time.Second

// next returns a short form of the next event: its type, the revision of the
// object and whether it ends the initial events.
func next(t *testing.T, w watch.Interface) string {
	t.Helper()
	select {
	case event, open := <-w.ResultChan():
		if !open {
			return "closed"
		}
		if status, ok := event.Object.(*metav1.Status); ok {
			return string(event.Type) + " " + string(status.Reason)
		}
		obj := event.Object.(*metav1.PartialObjectMetadata)
		revision, err := NewVersions(7).Parse(obj.ResourceVersion)
		if err != nil {
			t.Fatal(err)
		}
		text := string(event.Type) + " " + strconv.FormatUint(revision, 10)
		if obj.Annotations[metav1.InitialEventsAnnotationKey] == "true" {
			text += " end"
		}
		return text
	case <-time.After(patience):
		t.Fatal("no event")
		return ""
	}
}

func TestSingletonWatchStart(t *testing.T) {
	version := NewVersions(7).Format
	tests := map[string]struct {
		options metainternalversion.ListOptions
		want    []string
	}{
		"streaming list": {
			options: metainternalversion.ListOptions{SendInitialEvents: ptr.To(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true},
			want:    []string{"ADDED 5", "BOOKMARK 5 end", "MODIFIED 6"},
		},
		"streaming list from a version": {
			options: metainternalversion.ListOptions{SendInitialEvents: ptr.To(true), ResourceVersion: version(3), AllowWatchBookmarks: true},
			want:    []string{"ADDED 5", "BOOKMARK 5 end", "MODIFIED 6"},
		},
		"streaming list that selects nothing": {
			options: metainternalversion.ListOptions{SendInitialEvents: ptr.To(true), AllowWatchBookmarks: true, LabelSelector: labels.SelectorFromSet(labels.Set{"k": "new"})},
			want:    []string{"BOOKMARK 5 end", "ADDED 6"},
		},
		"old watch as the endpoint defaults it": {
			options: metainternalversion.ListOptions{SendInitialEvents: ptr.To(true)},
			want:    []string{"ADDED 5", "MODIFIED 6"},
		},
		"old watch":                   {want: []string{"ADDED 5", "MODIFIED 6"}},
		"old watch from any version":  {options: metainternalversion.ListOptions{ResourceVersion: "0"}, want: []string{"ADDED 5", "MODIFIED 6"}},
		"from the current version":    {options: metainternalversion.ListOptions{ResourceVersion: version(5)}, want: []string{"MODIFIED 6"}},
		"from an older version":       {options: metainternalversion.ListOptions{ResourceVersion: version(3)}, want: []string{"MODIFIED 5", "MODIFIED 6"}},
		"no initial events wanted":    {options: metainternalversion.ListOptions{SendInitialEvents: ptr.To(false)}, want: []string{"MODIFIED 6"}},
		"no initial events, version":  {options: metainternalversion.ListOptions{SendInitialEvents: ptr.To(false), ResourceVersion: version(3)}, want: []string{"MODIFIED 5", "MODIFIED 6"}},
		"leaves the selection":        {options: metainternalversion.ListOptions{LabelSelector: labels.SelectorFromSet(labels.Set{"k": "old"})}, want: []string{"ADDED 5", "DELETED 6"}},
		"enters the selection":        {options: metainternalversion.ListOptions{LabelSelector: labels.SelectorFromSet(labels.Set{"k": "new"})}, want: []string{"ADDED 6"}},
		"from a version, not matched": {options: metainternalversion.ListOptions{ResourceVersion: version(3), LabelSelector: labels.SelectorFromSet(labels.Set{"k": "new"})}, want: []string{"ADDED 6"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			source := &fakeSource{revision: 5, labels: map[string]string{"k": "old"}}
			singleton, _ := newSingleton(source)
			w, err := singleton.Watch(t.Context(), &test.options)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Stop()
			var got []string
			for range len(test.want) - 1 {
				got = append(got, next(t, w))
			}
			source.set(func(s *fakeSource) { s.revision, s.labels = 6, map[string]string{"k": "new"} })
			got = append(got, next(t, w))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSingletonWatchRefuses(t *testing.T) {
	singleton, _ := newSingleton(&fakeSource{revision: 5})
	tests := map[string]struct {
		version string
		want    func(error) bool
	}{
		"another process'": {version: NewVersions(8).Format(5), want: apierrors.IsResourceExpired},
		"from the future":  {version: singleton.Versions.Format(6), want: storage.IsTooLargeResourceVersion},
		"no version":       {version: "x", want: apierrors.IsBadRequest},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := singleton.Watch(t.Context(), &metainternalversion.ListOptions{ResourceVersion: test.version}); !test.want(err) {
				t.Errorf("unexpected outcome %v", err)
			}
		})
	}
}

func TestSingletonWatchSlowClientSeesTheNewest(t *testing.T) {
	source := &fakeSource{revision: 5}
	singleton, _ := newSingleton(source)
	w, err := singleton.Watch(t.Context(), &metainternalversion.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for revision := uint64(6); revision <= 100; revision++ {
		source.set(func(s *fakeSource) { s.revision = revision })
	}
	got := []string{next(t, w), next(t, w)}
	if diff := cmp.Diff([]string{"ADDED 5", "MODIFIED 100"}, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestSingletonWatchBookmarks(t *testing.T) {
	source := &fakeSource{revision: 5}
	singleton, clock := newSingleton(source)
	w, err := singleton.Watch(t.Context(), &metainternalversion.ListOptions{AllowWatchBookmarks: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	got := []string{next(t, w)}
	hasTicker := func(context.Context) (bool, error) { return clock.HasWaiters(), nil }
	if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, patience, true, hasTicker); err != nil {
		t.Fatal(err)
	}
	clock.Step(time.Minute)
	got = append(got, next(t, w))
	source.set(func(s *fakeSource) { s.revision = 6 })
	got = append(got, next(t, w))
	clock.Step(time.Minute)
	got = append(got, next(t, w))
	if diff := cmp.Diff([]string{"ADDED 5", "BOOKMARK 5", "MODIFIED 6", "BOOKMARK 6"}, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestSingletonWatchEnds(t *testing.T) {
	tests := map[string]struct {
		end  func(*fakeSource, watch.Interface, context.CancelFunc)
		want []string
	}{
		"client stops, twice": {
			end:  func(_ *fakeSource, w watch.Interface, _ context.CancelFunc) { w.Stop(); w.Stop() },
			want: []string{"closed"},
		},
		"request ends": {
			end:  func(_ *fakeSource, _ watch.Interface, cancel context.CancelFunc) { cancel() },
			want: []string{"closed"},
		},
		"source closes": {
			end:  func(s *fakeSource, _ watch.Interface, _ context.CancelFunc) { close(s.subscribers[0]) },
			want: []string{"closed"},
		},
		"source fails": {
			end: func(s *fakeSource, _ watch.Interface, _ context.CancelFunc) {
				s.set(func(s *fakeSource) { s.err = context.DeadlineExceeded })
			},
			want: []string{"ERROR Timeout", "closed"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			source := &fakeSource{revision: 5}
			singleton, _ := newSingleton(source)
			w, err := singleton.Watch(ctx, &metainternalversion.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			next(t, w)
			test.end(source, w, cancel)
			var got []string
			for range test.want {
				got = append(got, next(t, w))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}
