//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/test/programs"
)

// story writes down every change of the conditions of the only backend of a
// namespace: their reasons, since messages name Pods.
type story struct {
	strings.Builder

	changes <-chan watch.Event
	last    string
}

// follow begins a story, before there is a backend.
func (c clients) follow(t *testing.T) *story {
	t.Helper()
	watcher, err := c.ours.InferencecacheV1alpha1().CacheBackends(c.namespace).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(watcher.Stop)
	return &story{changes: watcher.ResultChan()}
}

// until writes a chapter: what happens until condition Ready has a reason. It
// returns the backend as it is then.
func (s *story) until(t *testing.T, chapter, reason string) *v1alpha1.CacheBackend {
	t.Helper()
	fmt.Fprintln(s, chapter)
	patience := time.After(programs.Patience)
	for {
		select {
		case change, open := <-s.changes:
			backend, is := change.Object.(*v1alpha1.CacheBackend)
			if !open || !is {
				t.Fatalf("the watch ended with %+v, after:\n%s", change, s)
			}
			if line := reasonsOf(backend.Status.Conditions); line != s.last {
				s.last = line
				fmt.Fprintln(s, "  "+line)
			}
			if ready := meta.FindStatusCondition(backend.Status.Conditions, v1alpha1.ConditionReady); ready != nil && ready.Reason == reason {
				return backend
			}
		case <-patience:
			t.Fatalf("condition Ready has not come to %s, after:\n%s", reason, s)
		}
	}
}

// reasonsOf writes conditions on a line, in order of their types.
func reasonsOf(conditions []metav1.Condition) string {
	var out []string
	for _, condition := range conditions {
		out = append(out, fmt.Sprintf("%s=%s/%s", condition.Type, condition.Status, condition.Reason))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// told returns a chapter of the Events on a backend, in the order in which they were
// made.
func (c clients) told(t *testing.T, name string) string {
	t.Helper()
	events, err := c.EventsV1().Events(c.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(events.Items, func(a, b eventsv1.Event) int {
		return cmp.Or(a.EventTime.Compare(b.EventTime.Time), cmp.Compare(a.Name, b.Name))
	})
	out := "Events\n"
	for i := range events.Items {
		if event := &events.Items[i]; event.Regarding.Name == name && event.Regarding.Kind == "CacheBackend" {
			out += "  " + event.Type + " " + event.Reason + "\n"
		}
	}
	return out
}
