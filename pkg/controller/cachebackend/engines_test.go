/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/controller/readiness"
)

// with changes a Pod.
func with(pod *corev1.Pod, edits ...func(*corev1.Pod)) *corev1.Pod {
	for _, edit := range edits {
		edit(pod)
	}
	return pod
}

func unwired(pod *corev1.Pod) { pod.Annotations = nil }

// crashing has a container of a Pod end again and again.
func crashing(container, last string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: container, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: last}},
		})
	}
}

// checked has a Pod with a kernel check in some state.
func checked(strict string, state corev1.ContainerState) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.InitContainers = []corev1.Container{{Name: kernelCheckContainer, Env: []corev1.EnvVar{{Name: envKernelCheckStrict, Value: strict}}}}
		pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: kernelCheckContainer, State: state}}
	}
}

func said(message string) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: message}}
}

func TestObserveEngines(t *testing.T) {
	check := func(state readiness.KernelState, message string, strict bool) *readiness.Engines {
		return &readiness.Engines{Matched: 1, Wired: 1, Kernels: []readiness.KernelCheck{{Pod: "e", State: state, Message: message, Strict: strict}}}
	}
	tests := map[string]struct {
		pods []*corev1.Pod
		edit func(*v1alpha1.CacheBackendSpec)
		want *readiness.Engines
	}{
		"none":                 {want: &readiness.Engines{}},
		"one is wired":         {pods: []*corev1.Pod{enginePod("e")}, want: &readiness.Engines{Matched: 1, Wired: 1}},
		"one is only selected": {pods: []*corev1.Pod{with(enginePod("e"), unwired)}, want: &readiness.Engines{Matched: 1}},
		"one has other labels": {pods: []*corev1.Pod{with(enginePod("e"), func(p *corev1.Pod) { p.Labels = nil })}, want: &readiness.Engines{Wired: 1}},
		"one is another's":     {pods: []*corev1.Pod{with(enginePod("e"), func(p *corev1.Pod) { p.Namespace = "team-b" })}, want: &readiness.Engines{}},
		"one has ended":        {pods: []*corev1.Pod{with(enginePod("e"), func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })}, want: &readiness.Engines{}},
		"the backend claims none": {
			pods: []*corev1.Pod{with(enginePod("e"), unwired)}, want: &readiness.Engines{},
			edit: func(s *v1alpha1.CacheBackendSpec) { s.EngineSelector.MatchLabels = map[string]string{} },
		},
		"an earlier backend of the name has wired it": {pods: []*corev1.Pod{with(enginePod("e"), func(p *corev1.Pod) {
			p.Annotations[v1alpha1.AnnotationInjectedByUID] = "gone"
		})}, want: &readiness.Engines{Matched: 1}},
		"the selector matches the store": {
			pods: []*corev1.Pod{with(storePod("s", "u", "redis", 0), func(p *corev1.Pod) { p.Labels["app"] = "engine" })}, want: &readiness.Engines{},
		},
		"one could not be wired": {pods: []*corev1.Pod{with(enginePod("e"), func(p *corev1.Pod) {
			p.Annotations = map[string]string{v1alpha1.AnnotationInjectSkipped: "ArgsInShell", v1alpha1.AnnotationInjectSkippedMessage: "write them as a list"}
		})}, want: &readiness.Engines{Matched: 1, LeftUnwired: []readiness.PodNote{{Pod: "e", Note: "ArgsInShell: write them as a list"}}}},
		"one has opted out": {pods: []*corev1.Pod{with(enginePod("e"), func(p *corev1.Pod) {
			p.Annotations = map[string]string{v1alpha1.AnnotationInjectSkipped: v1alpha1.InjectSkippedByAnnotation}
		})}, want: &readiness.Engines{Matched: 1}},
		"kernels loaded":      {pods: []*corev1.Pod{with(enginePod("e"), checked("0", said("OK\n")))}, want: check(readiness.KernelsLoaded, "OK", false)},
		"kernels failed":      {pods: []*corev1.Pod{with(enginePod("e"), checked("1", said("FAIL: no libcudart")))}, want: check(readiness.KernelsFailed, "no libcudart", true)},
		"the check is broken": {pods: []*corev1.Pod{with(enginePod("e"), checked("0", said("Killed")))}, want: check(readiness.KernelsUnclear, "Killed", false)},
		"the check runs":      {pods: []*corev1.Pod{with(enginePod("e"), checked("0", corev1.ContainerState{}))}, want: check(readiness.KernelsPending, "", false)},
		"the engine crashes": {pods: []*corev1.Pod{with(enginePod("e"), crashing("sglang", " unknown flag\n"))}, want: &readiness.Engines{
			Matched: 1, Wired: 1, CrashLoops: []readiness.PodNote{{Pod: "e", Note: "unknown flag"}},
		}},
		"the subscriber crashes": {pods: []*corev1.Pod{with(enginePod("e"), crashing(subscriberContainer, ""))}, want: &readiness.Engines{Matched: 1, Wired: 1}},
		"an unwired engine crashes": {
			pods: []*corev1.Pod{with(enginePod("e"), unwired, crashing("sglang", ""))}, want: &readiness.Engines{Matched: 1},
		},
		"an engine of any name crashes": {pods: []*corev1.Pod{with(enginePod("e"), func(p *corev1.Pod) {
			p.Spec.Containers[0].Name = "server"
		}, crashing("server", ""))}, want: &readiness.Engines{Matched: 1, Wired: 1, CrashLoops: []readiness.PodNote{{Pod: "e"}}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			backend := newBackend(hostOnly)
			if tc.edit != nil {
				tc.edit(&backend.Spec)
			}
			h := newHarness(t, backend)
			for _, pod := range tc.pods {
				stripped, err := stripPod(pod)
				if err != nil {
					t.Fatal(err)
				}
				if err := h.client.Create(t.Context(), stripped.(client.Object)); err != nil {
					t.Fatal(err)
				}
			}
			got, err := observeEngines(t.Context(), h.client, backend)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("wrong engines (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPodsOfBackends holds which backends are looked at because of a Pod.
func TestPodsOfBackends(t *testing.T) {
	other := newBackend(hostOnly)
	other.Name, other.UID = "other", "other"
	silent := newBackend(func(s *v1alpha1.CacheBackendSpec) { s.EngineSelector = nil })
	silent.Name, silent.UID = "silent", "silent"
	tests := map[string]struct {
		pod  *corev1.Pod
		want string
	}{
		"of a store":                 {pod: storePod("s", "u", "redis", 0), want: "shared"},
		"selected by two":            {pod: with(enginePod("e"), unwired), want: "other shared"},
		"wired and not selected":     {pod: with(enginePod("e"), func(p *corev1.Pod) { p.Labels = nil }), want: "shared"},
		"nobody's":                   {pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace}}},
		"of another namespace":       {pod: with(enginePod("e"), func(p *corev1.Pod) { p.Namespace = "team-b" })},
		"wired in another namespace": {pod: with(enginePod("e"), func(p *corev1.Pod) { p.Labels, p.Annotations[v1alpha1.AnnotationInjectedBy] = nil, "team-b/shared" })},
	}
	h := newHarness(t, newBackend(hostOnly), other, silent)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, request := range h.ofPod(t.Context(), tc.pod) {
				got = append(got, request.Name)
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("wrong backends (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStripPod holds that nothing is kept of a Pod that nobody reads, and that its
// size does not depend on who wrote it.
func TestStripPod(t *testing.T) {
	pod := with(enginePod("e"), checked("1", said("OK")), crashing("sglang", "out of memory"))
	want := pod.DeepCopy()
	pod.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet"}}
	pod.Annotations["example.com/large"] = strings.Repeat("x", 1<<10)
	pod.Spec.NodeName = "node"
	pod.Spec.Containers[0].Args = []string{"--model=large"}
	pod.Status.HostIP = "192.0.2.1"
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodScheduled})
	got, err := stripPod(pod)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("wrong Pod (-want +got):\n%s", diff)
	}
	for _, strip := range []func(any) (any, error){stripPod, stripDeployment, stripIndex} {
		if got, err := strip("a tombstone"); got != "a tombstone" || err != nil {
			t.Errorf("got %v, %v for what is no object of the kind", got, err)
		}
	}
}

// TestIndexHandler holds which backends are looked at because the index has changed.
func TestIndexHandler(t *testing.T) {
	entry := func(name string, edit func(*v1alpha1.CacheIndexBackend)) v1alpha1.CacheIndexBackend {
		b := v1alpha1.CacheIndexBackend{Namespace: testNamespace, Name: name, UID: types.UID(name), PrefixCount: 1, Complete: true}
		if edit != nil {
			edit(&b)
		}
		return b
	}
	of := func(complete bool, entries ...v1alpha1.CacheIndexBackend) *v1alpha1.CacheIndex {
		return &v1alpha1.CacheIndex{Status: v1alpha1.CacheIndexStatus{Complete: complete, Backends: entries}}
	}
	at := metav1.NewTime(start)
	tests := map[string]struct {
		before, after *v1alpha1.CacheIndex
		want          string
	}{
		"nothing":        {before: of(true, entry("a", nil)), after: of(true, entry("a", nil))},
		"it grows":       {before: of(true, entry("a", nil)), after: of(true, entry("a", func(b *v1alpha1.CacheIndexBackend) { b.PrefixCount = 9 }))},
		"it is empty":    {before: of(true, entry("a", nil)), after: of(true, entry("a", func(b *v1alpha1.CacheIndexBackend) { b.PrefixCount = 0 })), want: "a"},
		"a first event":  {before: of(true, entry("a", nil)), after: of(true, entry("a", func(b *v1alpha1.CacheIndexBackend) { b.LastEventAt = &at })), want: "a"},
		"one comes":      {before: of(true, entry("a", nil)), after: of(true, entry("a", nil), entry("b", nil)), want: "b"},
		"one goes":       {before: of(true, entry("a", nil), entry("b", nil)), after: of(true, entry("a", nil)), want: "b"},
		"it is rebuilt":  {before: of(true, entry("a", nil)), after: of(false, entry("a", nil)), want: "a"},
		"it appears":     {after: of(true, entry("a", nil)), want: "a"},
		"one is another": {before: of(true, entry("a", nil)), after: of(true, entry("a", func(b *v1alpha1.CacheIndexBackend) { b.UID = "new" })), want: "a"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, request := range changedShares(tc.before, tc.after) {
				got = append(got, request.Name)
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("wrong backends (-want +got):\n%s", diff)
			}
		})
	}
}
