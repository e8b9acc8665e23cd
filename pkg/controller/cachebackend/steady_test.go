/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/controller/readiness"
)

// TestSteadyState holds that a backend for which nothing changes costs no call, and
// how soon it is looked at again.
func TestSteadyState(t *testing.T) {
	for name, tc := range shapes {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, newBackend(tc.edit), index())
			h.look(t)
			if len(tc.owned) > 0 && name != "StatefulSet with storage" {
				h.serve(t)
			}
			for range 3 {
				h.look(t)
			}
			h.took()
			var want []string
			if name == "HiCache without storage" {
				want = []string{"get observation CacheBackend"}
			}
			for range 3 {
				h.pass(time.Second)
				if after := h.look(t); after != readiness.SteadyInterval {
					t.Errorf("it is looked at again after %s", after)
				}
				if name == "StatefulSet with storage" {
					h.took() // its store does not run, so that the password is doubted
					continue
				}
				if diff := cmp.Diff(want, h.took(), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("wrong calls (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestRestartOfManager holds what a new manager asks of the cluster: nothing that is
// right already is written, but for one apply of each object.
func TestRestartOfManager(t *testing.T) {
	h := newHarness(t, newBackend(managedRedis), index())
	h.look(t)
	h.serve(t)
	h.look(t)
	h.look(t)
	h.Reconciler = h.newReconciler(t)
	h.took()
	h.look(t)
	want := []string{"apply Deployment shared", "apply NetworkPolicy shared", "apply Service shared", "get Secret shared-store-password"}
	if diff := cmp.Diff(want, h.took()); diff != "" {
		t.Errorf("wrong calls (-want +got):\n%s", diff)
	}
	h.look(t)
	if calls := h.took(); len(calls) > 0 {
		t.Errorf("calls in the second look: %v", calls)
	}
}

// TestChurn holds that a backend is looked at more often while its engines are not
// as many as they should be.
func TestChurn(t *testing.T) {
	engines := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace, Name: "engines"},
		Spec:       appsv1.DeploymentSpec{Replicas: ptr.To[int32](1)},
	}
	engines.Spec.Template.Labels = map[string]string{"app": "engine"}
	h := newHarness(t, newBackend(hostOnly), engines)
	if after := h.look(t); after != readiness.ChurnInterval {
		t.Errorf("without its engine it is looked at again after %s", after)
	}
	if err := h.client.Create(t.Context(), enginePod("engine-0")); err != nil {
		t.Fatal(err)
	}
	if after := h.look(t); after != readiness.SteadyInterval {
		t.Errorf("with its engine it is looked at again after %s", after)
	}
	if got := h.backend(t).Status.MatchedEnginePods; got == nil || *got != 1 {
		t.Errorf("%v engine Pods are matched, want 1", got)
	}
}

// TestReady follows a store from nothing to Ready, with the Events on the way, each
// once.
func TestReady(t *testing.T) {
	h := newHarness(t, newBackend(managedRedis), enginePod("engine-0"))
	steps := []struct {
		name  string
		do    func()
		ready string
	}{
		{name: "it is made", ready: "False/RolloutInProgress"},
		{name: "it runs", do: func() { h.serve(t) }, ready: "False/AwaitingFirstKVEvent"},
		{name: "an engine reports", do: func() {
			if err := h.client.Create(t.Context(), index()); err != nil {
				t.Fatal(err)
			}
		}, ready: "True/KVEventsObserved"},
	}
	for _, step := range steps {
		if step.do != nil {
			step.do()
		}
		for range 2 {
			h.look(t)
		}
		if got := h.ready(t); got != step.ready {
			t.Errorf("%s: Ready is %s, want %s", step.name, got, step.ready)
		}
	}
	close(h.recorder.Events)
	var reasons []string
	for event := range h.recorder.Events {
		reasons = append(reasons, firstWords(event, 2))
	}
	if diff := cmp.Diff([]string{"Normal AwaitingFirstKVEvent", "Normal KVEventsObserved"}, reasons); diff != "" {
		t.Errorf("wrong Events (-want +got):\n%s", diff)
	}
	status := h.backend(t).Status
	want := v1alpha1.CacheBackendStatus{Endpoint: "shared.team-a.svc:6379", ObservedServerInstance: "u1:0", Replicas: 1}
	got := v1alpha1.CacheBackendStatus{Endpoint: status.Endpoint, ObservedServerInstance: status.ObservedServerInstance, Replicas: status.Replicas}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("wrong status (-want +got):\n%s", diff)
	}
}

// firstWords returns the beginning of a text.
func firstWords(text string, n int) string {
	for i, r := range text {
		if r == ' ' {
			if n--; n == 0 {
				return text[:i]
			}
		}
	}
	return text
}
