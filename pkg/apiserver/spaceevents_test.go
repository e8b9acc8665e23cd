/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"inferencecache.io/inference-cache/pkg/storage/embedded"
)

// madeEvents waits for as many Events and returns them.
func madeEvents(t *testing.T, client *fake.Clientset, namespace string, n int) []eventsv1.Event {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		list, err := client.EventsV1().Events(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Items) >= n {
			return list.Items
		}
		select {
		case <-deadline:
			t.Fatalf("there are %d Events, want %d", len(list.Items), n)
		case <-tick.C:
		}
	}
}

func TestSpaceEvents(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: "server-0", UID: "u-1"}}
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "server-0", errors.New("no"))
	tests := map[string]struct {
		pod     string
		refused error
		want    corev1.ObjectReference
	}{
		"about the Pod": {
			pod: "server-0", want: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: "system", Name: "server-0", UID: "u-1"},
		},
		"about a Pod that may not be read": {
			pod: "server-0", refused: forbidden, want: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: "system", Name: "server-0"},
		},
		"about the namespace": {want: corev1.ObjectReference{APIVersion: "v1", Kind: "Namespace", Namespace: "system", Name: "system"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset(pod)
			client.PrependReactor("get", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
				return tc.refused != nil, nil, tc.refused
			})
			e := NewSpaceEvents(client, "system", tc.pod)
			// A start under an alarm tells of it before anybody makes Events.
			e.Tell(embedded.Space{Exhausted: true, Bytes: 10, QuotaBytes: 10})
			ctx, stop := context.WithCancel(t.Context())
			var running sync.WaitGroup
			running.Go(func() { e.Run(ctx) })
			defer running.Wait()
			defer stop()
			madeEvents(t, client, "system", 1)
			e.Tell(embedded.Space{Bytes: 5, QuotaBytes: 10})

			got := map[string]string{}
			for _, event := range madeEvents(t, client, "system", 2) {
				got[event.Reason] = event.Type
				if diff := cmp.Diff(tc.want, event.Regarding); diff != "" {
					t.Errorf("%s is about something else (-want +got):\n%s", event.Reason, diff)
				}
				if event.ReportingController != "inference-cache-apiserver" || event.Note == "" || event.Action == "" {
					t.Errorf("incomplete: %+v", event)
				}
			}
			want := map[string]string{"StorageSpaceExhausted": "Warning", "StorageSpaceRecovered": "Normal"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("wrong Events (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSpaceEventsNeverWait holds that the storage is not held up when nobody makes
// Events of what it says.
func TestSpaceEventsNeverWait(t *testing.T) {
	e := NewSpaceEvents(fake.NewClientset(), "system", "")
	for range 2 * untoldChanges {
		e.Tell(embedded.Space{Exhausted: true})
	}
}
