/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package enginepod

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// backend is one of the namespace of every test.
func backend(name string, selector map[string]string) *v1alpha1.CacheBackend {
	b := &v1alpha1.CacheBackend{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name, UID: types.UID("uid-" + name)}}
	if selector != nil {
		b.Spec.EngineSelector = &v1alpha1.EngineSelector{MatchLabels: selector}
	}
	return b
}

func TestEvents(t *testing.T) {
	type annotations map[string]string
	engine := map[string]string{"app": "engine"}
	tests := map[string]struct {
		annotations annotations
		labels      map[string]string
		want        []string
	}{
		"InjectedByCacheBackend": {
			annotations: annotations{v1alpha1.AnnotationInjectedBy: "team-a/shared", v1alpha1.AnnotationInjectedByUID: "uid-shared"},
			want:        []string{"Normal InjectedByCacheBackend Wired by CacheBackend team-a/shared"},
		},
		"injected, and the backend is gone": {
			annotations: annotations{v1alpha1.AnnotationInjectedBy: "team-a/gone", v1alpha1.AnnotationInjectedByUID: "uid-gone"},
		},
		"injected by one of the name before": {
			annotations: annotations{v1alpha1.AnnotationInjectedBy: "team-a/shared", v1alpha1.AnnotationInjectedByUID: "uid-before"},
		},
		"injected without a UID": {annotations: annotations{v1alpha1.AnnotationInjectedBy: "team-a/shared"}},
		"injected by another namespace": {
			annotations: annotations{v1alpha1.AnnotationInjectedBy: "team-b/shared", v1alpha1.AnnotationInjectedByUID: "uid-shared"},
		},
		"SkippedByOperator": {
			annotations: annotations{v1alpha1.AnnotationSkipInject: "true", v1alpha1.AnnotationInjectSkipped: v1alpha1.InjectSkippedByAnnotation},
			want:        []string{"Normal SkippedByOperator Not wired, because annotation inferencecache.io/skip-inject says so"},
		},
		"skipped, and nobody asked for it": {annotations: annotations{v1alpha1.AnnotationInjectSkipped: v1alpha1.InjectSkippedByAnnotation}},
		"EngineLeftUnwired": {
			annotations: annotations{v1alpha1.AnnotationInjectSkipped: "shell-command", v1alpha1.AnnotationInjectSkippedMessage: "write the flags as a list"},
			labels:      engine,
			want: []string{
				"Warning EngineLeftUnwired The engine runs without the cache of CacheBackend also: write the flags as a list",
				"Warning EngineLeftUnwired Pod engine-0 could not be wired: write the flags as a list",
			},
		},
		"left unwired for a long reason": {
			annotations: annotations{v1alpha1.AnnotationInjectSkipped: "shell-command", v1alpha1.AnnotationInjectSkippedMessage: strings.Repeat("long", 1000)},
			want: []string{
				"Warning EngineLeftUnwired " + ("The engine runs without its cache: " + strings.Repeat("long", 1000))[:1021] + "...",
			},
		},
		"left unwired without a message": {
			annotations: annotations{v1alpha1.AnnotationInjectSkipped: "shell-command"},
			want:        []string{"Warning EngineLeftUnwired The engine runs without its cache: shell-command"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
				if err := add(scheme); err != nil {
					t.Fatal(err)
				}
			}
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "engine-0", Labels: tc.labels, Annotations: tc.annotations}}
			recorder := events.NewFakeRecorder(10)
			r := &Reconciler{
				client:   fake.NewClientBuilder().WithScheme(scheme).WithObjects(pod, backend("shared", engine), backend("also", engine), backend("all", nil), backend("any", map[string]string{})).Build(),
				recorder: recorder,
			}
			if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(pod)}); err != nil {
				t.Fatal(err)
			}
			close(recorder.Events)
			var got []string
			for e := range recorder.Events {
				got = append(got, e)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("wrong Events (-want +got):\n%s", diff)
			}
		})
	}
}

// TestIsNew holds which Pods are told of.
func TestIsNew(t *testing.T) {
	now := time.Date(2026, time.December, 1, 12, 0, 0, 0, time.UTC)
	wired := map[string]string{v1alpha1.AnnotationInjectedBy: "team-a/shared"}
	tests := map[string]struct {
		age         time.Duration
		annotations map[string]string
		want        bool
	}{
		"new":            {annotations: wired, want: true},
		"skipped":        {annotations: map[string]string{v1alpha1.AnnotationInjectSkipped: "x"}, want: true},
		"old":            {age: MaxAge, annotations: wired},
		"no engine":      {},
		"nearly too old": {age: MaxAge - time.Second, annotations: wired, want: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(now.Add(-tc.age)), Annotations: tc.annotations}}
			p := isNew(func() time.Time { return now })
			if got := p.Create(event.CreateEvent{Object: pod}); got != tc.want {
				t.Errorf("got %t, want %t", got, tc.want)
			}
			if p.Update(event.UpdateEvent{ObjectOld: pod, ObjectNew: pod}) || p.Delete(event.DeleteEvent{Object: pod}) || p.Generic(event.GenericEvent{Object: pod}) {
				t.Error("a Pod that is not new is told of")
			}
		})
	}
}

// TestPodIsGone holds that a Pod which is gone is no error.
func TestPodIsGone(t *testing.T) {
	r := &Reconciler{client: fake.NewClientBuilder().Build(), recorder: events.NewFakeRecorder(1)}
	if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "team-a", Name: "gone"}}); err != nil {
		t.Error(err)
	}
}
