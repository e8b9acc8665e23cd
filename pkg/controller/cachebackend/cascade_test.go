/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus/testutil"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// controlled makes an object that another one controls.
func controlled(by metav1.OwnerReference, object client.Object) client.Object {
	by.Controller = ptr.To(true)
	object.SetNamespace(testNamespace)
	object.SetOwnerReferences([]metav1.OwnerReference{by})
	return object
}

func uidOf(kind, name string) types.UID { return types.UID(kind + name) }

func apps(kind, name string) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "apps/v1", Kind: kind, Name: name, UID: uidOf(kind, name)}
}

// fleet has engines under workloads of every kind, all wired by the backend.
func fleet() []client.Object {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace, Name: "a", UID: uidOf(kindDeployment, "a")}, Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](1)}}
	stateful := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace, Name: "b", UID: uidOf(kindStatefulSet, "b")}, Spec: appsv1.StatefulSetSpec{Replicas: ptr.To[int32](1)}}
	daemon := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace, Name: "c", UID: uidOf(kindDaemonSet, "c")}, Status: appsv1.DaemonSetStatus{DesiredNumberScheduled: 1}}
	bare := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace, Name: "bare", UID: uidOf(kindReplicaSet, "bare")}}
	stranger := enginePod("stranger")
	stranger.Annotations = nil
	return []client.Object{
		deployment, stateful, daemon, bare,
		controlled(apps(kindDeployment, "a"), &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: "a-1", UID: uidOf(kindReplicaSet, "a-1")}}),
		controlled(apps(kindReplicaSet, "a-1"), enginePod("a-1-x")),
		controlled(apps(kindReplicaSet, "a-1"), enginePod("a-1-y")),
		controlled(apps(kindStatefulSet, "b"), enginePod("b-0")),
		controlled(apps(kindDaemonSet, "c"), enginePod("c-x")),
		controlled(apps(kindReplicaSet, "bare"), enginePod("bare-x")),
		controlled(metav1.OwnerReference{APIVersion: "batch/v1", Kind: "Job", Name: "job", UID: "job"}, enginePod("job-x")),
		controlled(apps(kindDeployment, "other"), stranger),
		enginePod("alone"),
	}
}

// replaceStore lets another Pod run the store.
func (h *harness) replaceStore(t *testing.T, uid types.UID) {
	t.Helper()
	pods := &corev1.PodList{}
	if err := h.client.List(t.Context(), pods, client.InNamespace(testNamespace)); err != nil {
		t.Fatal(err)
	}
	for i := range pods.Items {
		if isStorePod(&pods.Items[i]) {
			if err := h.client.Delete(t.Context(), &pods.Items[i]); err != nil {
				t.Fatal(err)
			}
			if err := h.client.Create(t.Context(), storePod("store-"+string(uid), uid, pods.Items[i].Spec.Containers[0].Name, 0)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// rolled says that a workload has replaced its Pods.
func (h *harness) rolled(t *testing.T, kind, name string) {
	t.Helper()
	var object client.Object
	switch kind {
	case kindDeployment:
		d := &appsv1.Deployment{}
		h.get(t, name, d)
		d.Status = appsv1.DeploymentStatus{Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1}
		object = d
	case kindStatefulSet:
		s := &appsv1.StatefulSet{}
		h.get(t, name, s)
		s.Status = appsv1.StatefulSetStatus{Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1}
		object = s
	default:
		d := &appsv1.DaemonSet{}
		h.get(t, name, d)
		d.Status = appsv1.DaemonSetStatus{DesiredNumberScheduled: 1, UpdatedNumberScheduled: 1, NumberAvailable: 1}
		object = d
	}
	if err := h.client.Status().Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

// patches returns what was restarted since calls were last taken.
func (h *harness) patches() []string {
	return slices.DeleteFunc(h.took(), func(call string) bool {
		return !strings.HasPrefix(call, "patch ") || strings.HasPrefix(call, "patch status")
	})
}

// TestCascade holds that a store which is replaced has its engines restarted, one
// workload after the other, each once; also by a manager that takes over.
func TestCascade(t *testing.T) {
	h := newHarness(t, append(fleet(), newBackend(managedRedis), index())...)
	h.look(t)
	h.serve(t)
	h.look(t)
	if got := h.backend(t).Status.ObservedServerInstance; got != "u1:0" {
		t.Fatalf("the store instance is %q", got)
	}
	if got := h.patches(); len(got) > 0 {
		t.Errorf("the first instance restarts %v", got)
	}
	h.replaceStore(t, "u2")
	for _, step := range []struct{ kind, name, call string }{
		{kind: kindDaemonSet, name: "c", call: "patch DaemonSet c"},
		{kind: kindDeployment, name: "a", call: "patch Deployment a"},
		{kind: kindStatefulSet, name: "b", call: "patch StatefulSet b"},
	} {
		h.look(t)
		if diff := cmp.Diff([]string{step.call}, h.patches()); diff != "" {
			t.Errorf("wrong restarts (-want +got):\n%s", diff)
		}
		h.Reconciler = h.newReconciler(t)
		h.look(t)
		if diff := cmp.Diff([]string(nil), h.patches(), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("restarts before %s has come back (-want +got):\n%s", step.call, diff)
		}
		if got := h.backend(t).Status.ObservedServerInstance; got != "u1:0" {
			t.Errorf("the store instance is %q before all engines were restarted", got)
		}
		h.rolled(t, step.kind, step.name)
	}
	h.look(t)
	if got := h.backend(t).Status.ObservedServerInstance; got != "u2:0" {
		t.Errorf("the store instance is %q after all engines were restarted", got)
	}
	if got := testutil.ToFloat64(h.metrics.cascades.WithLabelValues(testNamespace, testName, instanceChanged)); got != 1 {
		t.Errorf("%v restarts were counted, want 1", got)
	}
	h.look(t)
	if got := h.patches(); len(got) > 0 {
		t.Errorf("more restarts: %v", got)
	}
}

// TestNoCascade holds which stores restart nobody when they are replaced.
func TestNoCascade(t *testing.T) {
	h := newHarness(t, append(fleet(), newBackend(managedMooncake), index())...)
	h.look(t)
	h.serve(t)
	h.look(t)
	h.replaceStore(t, "u2")
	h.look(t)
	if got := h.patches(); len(got) > 0 {
		t.Errorf("restarts of engines that reconnect: %v", got)
	}
	if got := h.backend(t).Status.ObservedServerInstance; got != "u2:0" {
		t.Errorf("the store instance is %q", got)
	}
}

// TestCascadeNamesakes holds that nobody is restarted who merely has the name of a
// workload that engines were of.
func TestCascadeNamesakes(t *testing.T) {
	objects := fleet()
	for _, object := range objects {
		if _, pod := object.(*corev1.Pod); !pod {
			object.SetUID("another")
		}
	}
	h := newHarness(t, append(objects, newBackend(managedRedis))...)
	done, restarted, err := h.restarter.step(t.Context(), h.backend(t), "u2:0")
	if err != nil || !done || restarted > 0 {
		t.Errorf("done %t, restarted %d, error %v", done, restarted, err)
	}
	if got := h.patches(); len(got) > 0 {
		t.Errorf("restarts: %v", got)
	}
}

// TestIsGone holds which workloads keep nobody waiting, also where the cluster has no
// more of their kind.
func TestIsGone(t *testing.T) {
	group := schema.GroupKind{Group: "leaderworkerset.x-k8s.io", Kind: kindLeaderWorkerSet}
	tests := map[string]struct {
		err  error
		want bool
	}{
		"deleted":   {err: apierrors.NewNotFound(schema.GroupResource{Group: group.Group, Resource: "leaderworkersets"}, "big"), want: true},
		"replaced":  {err: errReplaced, want: true},
		"no kind":   {err: &meta.NoKindMatchError{GroupKind: group, SearchedVersions: []string{"v1"}}, want: true},
		"forbidden": {err: apierrors.NewForbidden(schema.GroupResource{Group: group.Group, Resource: "leaderworkersets"}, "big", nil)},
		"there":     {},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := isGone(tc.err); got != tc.want {
				t.Errorf("%v: gone is %t, want %t", tc.err, got, tc.want)
			}
		})
	}
}

// TestRollout holds when a workload counts as having replaced its Pods.
func TestRollout(t *testing.T) {
	type m = map[string]any
	status := func(counts m) m { return m{"spec": m{"replicas": int64(2)}, "status": counts} }
	tests := map[string]struct {
		kind    string
		content m
		want    bool
	}{
		"Deployment": {kind: kindDeployment, content: status(m{"replicas": int64(2), "updatedReplicas": int64(2), "availableReplicas": int64(2)}), want: true},
		"Deployment with an old Pod": {
			kind: kindDeployment, content: status(m{"replicas": int64(3), "updatedReplicas": int64(2), "availableReplicas": int64(2)}),
		},
		"Deployment that is not seen": {kind: kindDeployment, content: m{
			"metadata": m{"generation": int64(2)}, "spec": m{"replicas": int64(0)}, "status": m{"observedGeneration": int64(1)},
		}},
		"Deployment that has given up": {kind: kindDeployment, content: status(m{
			"conditions": []any{m{"type": "Progressing", "reason": progressDeadlineExceeded}},
		}), want: true},
		"Deployment that is paused": {kind: kindDeployment, content: m{"spec": m{"replicas": int64(2), "paused": true}}, want: true},
		"Deployment scaled to zero": {kind: kindDeployment, content: m{"spec": m{"replicas": int64(0)}}, want: true},
		"StatefulSet":               {kind: kindStatefulSet, content: status(m{"updatedReplicas": int64(2), "readyReplicas": int64(2)}), want: true},
		"StatefulSet on its way":    {kind: kindStatefulSet, content: status(m{"updatedReplicas": int64(1), "readyReplicas": int64(2)})},
		"StatefulSet with a partition": {kind: kindStatefulSet, content: m{
			"spec":   m{"replicas": int64(2), "updateStrategy": m{"rollingUpdate": m{"partition": int64(1)}}},
			"status": m{"updatedReplicas": int64(1), "readyReplicas": int64(2)},
		}, want: true},
		"StatefulSet that somebody rolls by hand": {kind: kindStatefulSet, content: m{"spec": m{"replicas": int64(2), "updateStrategy": m{"type": "OnDelete"}}}, want: true},
		"DaemonSet": {kind: kindDaemonSet, content: m{"status": m{
			"desiredNumberScheduled": int64(3), "updatedNumberScheduled": int64(3), "numberAvailable": int64(3),
		}}, want: true},
		"DaemonSet on its way": {kind: kindDaemonSet, content: m{"status": m{
			"desiredNumberScheduled": int64(3), "updatedNumberScheduled": int64(1), "numberAvailable": int64(3),
		}}},
		"DaemonSet that somebody rolls by hand": {kind: kindDaemonSet, content: m{
			"spec": m{"updateStrategy": m{"type": "OnDelete"}}, "status": m{"desiredNumberScheduled": int64(3)},
		}, want: true},
		"LeaderWorkerSet":            {kind: kindLeaderWorkerSet, content: status(m{"updatedReplicas": int64(2), "readyReplicas": int64(2)}), want: true},
		"LeaderWorkerSet on its way": {kind: kindLeaderWorkerSet, content: status(m{"updatedReplicas": int64(2), "readyReplicas": int64(1)})},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := (rollable{kind: tc.kind}).settled(tc.content); got != tc.want {
				t.Errorf("settled is %t, want %t", got, tc.want)
			}
		})
	}
}

// TestLeaderWorkerSet holds how engines are found and restarted that span Pods.
func TestLeaderWorkerSet(t *testing.T) {
	owner := metav1.OwnerReference{APIVersion: leaderWorkerSets, Kind: kindLeaderWorkerSet, Name: "big", UID: "big"}
	set := rollable{kind: kindLeaderWorkerSet, namespace: testNamespace, name: "big"}
	object := set.object()
	object.SetUID(owner.UID)
	if err := unstructured.SetNestedField(object.Object, int64(1), "spec", "replicas"); err != nil {
		t.Fatal(err)
	}
	h := newHarness(t, newBackend(managedRedis), object,
		controlled(owner, &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "big-0", UID: uidOf(kindStatefulSet, "big-0")}}),
		controlled(apps(kindStatefulSet, "big-0"), enginePod("big-0-1")),
		controlled(owner, enginePod("big-0")),
	)
	done, _, err := h.restarter.step(t.Context(), h.backend(t), "u2:0")
	if err != nil || done {
		t.Fatalf("done %t, error %v", done, err)
	}
	h.get(t, "big", object)
	got, _, err := unstructured.NestedString(object.Object, "spec", "leaderWorkerTemplate", "workerTemplate", "metadata", "annotations", v1alpha1.AnnotationCacheServerRestartTrigger)
	if err != nil || got != triggerOf("u2:0") {
		t.Errorf("the template has the trigger %q, %v", got, err)
	}
	if diff := cmp.Diff([]string{"patch LeaderWorkerSet big"}, h.patches()); diff != "" {
		t.Errorf("wrong restarts (-want +got):\n%s", diff)
	}
}
