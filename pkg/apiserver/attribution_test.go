/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/generated/clientset/versioned/fake"
	listers "inferencecache.io/inference-cache/pkg/generated/listers/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/index"
	"inferencecache.io/inference-cache/test/mutation"
)

// cacheBackend returns a backend in team-a whose UID is its name; labels come in pairs.
func cacheBackend(name string, labels ...string) *v1alpha1.CacheBackend {
	b := &v1alpha1.CacheBackend{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name, UID: types.UID(name)}}
	if len(labels) > 0 {
		b.Spec.EngineSelector = &v1alpha1.EngineSelector{MatchLabels: map[string]string{}}
	}
	for i := 0; i+1 < len(labels); i += 2 {
		b.Spec.EngineSelector.MatchLabels[labels[i]] = labels[i+1]
	}
	return b
}

func TestAttribute(t *testing.T) {
	all := []*v1alpha1.CacheBackend{
		cacheBackend("wired"), cacheBackend("llm-b", "app", "llm"), cacheBackend("llm-a", "app", "llm"),
		cacheBackend("both", "app", "llm", "tier", "hot"), cacheBackend("blank", "app", ""), cacheBackend("none", ""),
	}
	all[len(all)-1].Spec.EngineSelector.MatchLabels = map[string]string{}
	tests := map[string]struct {
		labels  map[string]string
		by, uid string
		want    string
		wired   bool
	}{
		"nothing":                      {wired: true},
		"first selector by name":       {labels: map[string]string{"app": "llm"}, want: "llm-a", wired: true},
		"all labels of a selector":     {labels: map[string]string{"app": "llm", "tier": "hot"}, want: "both", wired: true},
		"another value":                {labels: map[string]string{"app": "web"}, wired: true},
		"an empty value is a value":    {labels: map[string]string{"app": ""}, want: "blank", wired: true},
		"wired":                        {by: "team-a/wired", uid: "wired", want: "wired", wired: true},
		"wired before selected":        {labels: map[string]string{"app": "llm"}, by: "team-a/wired", uid: "wired", want: "wired", wired: true},
		"of another UID":               {labels: map[string]string{"app": "llm"}, by: "team-a/wired", uid: "old", want: "llm-a"},
		"without a UID":                {by: "team-a/wired", wired: true},
		"of another namespace":         {by: "team-b/wired", uid: "wired", wired: true},
		"of no namespace":              {by: "wired", uid: "wired", wired: true},
		"of one that is not there":     {by: "team-a/absent", uid: "absent"},
		"malformed":                    {by: "team-a/wired/", uid: "wired", wired: true},
		"with the UID of another":      {by: "team-a/wired", uid: "llm-a"},
		"malformed, and selected":      {labels: map[string]string{"app": "llm"}, by: "/", uid: "wired", want: "llm-a", wired: true},
		"a UID alone":                  {uid: "wired", wired: true},
		"of one that selects it aside": {labels: map[string]string{"app": "llm"}, by: "team-a/llm-b", uid: "llm-b", want: "llm-b", wired: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &enginePod{labels: test.labels, injectedBy: test.by, injectedByUID: test.uid}
			pod.Namespace = "team-a"
			want := index.Backend{}
			if test.want != "" {
				want = index.Backend{Namespace: "team-a", Name: test.want}
			}
			got, wired := attribute(pod, all)
			if got != want || wired != test.wired {
				t.Errorf("got %v, wired %t, want %v, %t", got, wired, want, test.wired)
			}
		})
	}
}

// FuzzInjectedBy holds that an annotation names a backend in just one way.
func FuzzInjectedBy(f *testing.F) {
	corpus := mutation.New(f, 5000)
	for _, seed := range []string{"", "/", "team-a/wired", "team-a/wired.v2", "team-a/wired/", "Team/wired", "team-a/../wired", "team.a/wired", "team-a/\x00", " team-a/wired"} {
		corpus.Add(seed)
	}
	corpus.Fuzz(func(t *testing.T, annotation string) {
		name, ok := parseInjectedBy(annotation)
		if !ok && name != (types.NamespacedName{}) {
			t.Errorf("%q is refused and names %v", annotation, name)
		}
		if ok && name.String() != annotation {
			t.Errorf("%q names %v", annotation, name)
		}
	})
}

// lagging is an attribution whose informer shows what the test puts there, while
// storage has more. It counts reads of storage.
type lagging struct {
	attribution

	shown   cache.Indexer
	clock   *clocktesting.FakeClock
	reads   atomic.Int64
	failure atomic.Pointer[error]
}

func newLagging(stored ...*v1alpha1.CacheBackend) *lagging {
	objects := make([]runtime.Object, len(stored))
	for i := range stored {
		objects[i] = stored[i]
	}
	client := fake.NewClientset(objects...)
	l := &lagging{
		shown: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}),
		clock: clocktesting.NewFakeClock(time.Unix(1000, 0)),
	}
	client.PrependReactor("list", "cachebackends", func(clienttesting.Action) (bool, runtime.Object, error) {
		l.reads.Add(1)
		if err := l.failure.Load(); err != nil {
			return true, nil, *err
		}
		return false, nil, nil
	})
	l.attribution.known = listers.NewCacheBackendLister(l.shown)
	l.attribution.client = client.InferencecacheV1alpha1()
	l.attribution.clock = l.clock
	return l
}

// show has the informer show a backend.
func (l *lagging) show(t *testing.T, b *v1alpha1.CacheBackend) {
	t.Helper()
	if err := l.shown.Add(b); err != nil {
		t.Fatal(err)
	}
}

func TestStorageIsReadBeforeARefusal(t *testing.T) {
	stored := []*v1alpha1.CacheBackend{cacheBackend("a", "app", "llm"), cacheBackend("b", "app", "llm")}
	tests := map[string]struct {
		by, uid string
		named   string
		want    string
		reads   int64
	}{
		"not named":                     {want: "b"},
		"named as shown":                {named: "b", want: "b"},
		"named as stored":               {named: "a", want: "a", reads: 1},
		"named wrong":                   {named: "c", want: "a", reads: 1},
		"wired to one not shown":        {by: "team-a/a", uid: "a", want: "a", reads: 1},
		"wired to one that is nowhere":  {by: "team-a/c", uid: "c", want: "a", reads: 1},
		"wired to one that is shown":    {by: "team-a/b", uid: "b", want: "b"},
		"wired to a former one":         {by: "team-a/b", uid: "old", want: "a", reads: 1},
		"annotated for other namespace": {by: "team-b/a", uid: "a", want: "b"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLagging(stored...)
			l.show(t, stored[1])
			pod := &enginePod{labels: map[string]string{"app": "llm"}, injectedBy: test.by, injectedByUID: test.uid}
			pod.Namespace = "team-a"
			var named index.Backend
			if test.named != "" {
				named = index.Backend{Namespace: "team-a", Name: test.named}
			}
			for range 3 {
				got, shown, err := l.resolve(t.Context(), pod, named)
				if err != nil || got.Name != test.want || shown.Name != "b" {
					t.Fatalf("got %v, shown %v, error %v, want %s and b", got, shown, err, test.want)
				}
			}
			if got := l.reads.Load(); got != test.reads {
				t.Errorf("%d reads of storage for three questions, want %d", got, test.reads)
			}
			l.clock.Step(readEvery)
			if _, _, err := l.resolve(t.Context(), pod, named); err != nil {
				t.Fatal(err)
			}
			if got := l.reads.Load(); got != 2*test.reads {
				t.Errorf("%d reads of storage a second later, want %d", got, 2*test.reads)
			}
		})
	}
}

func TestStorageThatCannotBeRead(t *testing.T) {
	l := newLagging()
	failure := errors.New("no leader")
	l.failure.Store(&failure)
	pod := &enginePod{}
	pod.Namespace = "team-a"
	named := index.Backend{Namespace: "team-a", Name: "a"}
	if _, _, err := l.resolve(t.Context(), pod, named); !errors.Is(err, failure) {
		t.Errorf("got %v, want %v", err, failure)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := l.resolve(ctx, pod, named); err == nil {
		t.Error("a call that is over was answered")
	}
}

// TestPermissionsHold follows one session that was granted ahead of the informer.
func TestPermissionsHold(t *testing.T) {
	a, b := cacheBackend("a", "app", "llm"), cacheBackend("b", "app", "llm")
	l := newLagging(a, b)
	l.show(t, b)
	owner := "team-a"
	access := &clusterAccess{backends: &l.attribution, namespaceOf: func(string) string { return owner }}
	pod := &enginePod{labels: map[string]string{"app": "llm"}}
	pod.Namespace = "team-a"
	of := func(b *v1alpha1.CacheBackend) index.Backend { return index.Backend{Namespace: "team-a", Name: b.Name} }
	holds := access.holds(pod, "team-a", of(a), of(b))
	steps := []struct {
		name   string
		change func() error
		code   codes.Code
		want   string
	}{
		{"the informer is still behind", func() error { return nil }, codes.OK, ""},
		{"it catches up", func() error { return l.shown.Add(a) }, codes.OK, ""},
		{"what it showed first is now the truth", func() error { return l.shown.Delete(a) }, codes.Aborted,
			"the session counted for CacheBackend team-a/a and now counts for CacheBackend team-a/b; open it again"},
		{"the tenant goes elsewhere", func() error { owner = "team-b"; return l.shown.Add(a) }, codes.PermissionDenied,
			"tenant team-a does not belong to namespace team-a"},
	}
	for _, step := range steps {
		if err := step.change(); err != nil {
			t.Fatal(err)
		}
		err := holds()
		if status.Code(err) != step.code || err != nil && status.Convert(err).Message() != step.want {
			t.Errorf("%s: got %v, want %s: %s", step.name, err, step.code, step.want)
		}
	}
}
