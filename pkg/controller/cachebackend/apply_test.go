/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"inferencecache.io/inference-cache/pkg/adapters/workload"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// TestNeverAdopts holds that an object which is in the way stays as it is, whoever
// has it.
func TestNeverAdopts(t *testing.T) {
	name := metav1.ObjectMeta{Namespace: testNamespace, Name: testName}
	objects := map[string]client.Object{
		"Deployment":    &appsv1.Deployment{ObjectMeta: name},
		"Service":       &corev1.Service{ObjectMeta: name},
		"NetworkPolicy": &networkingv1.NetworkPolicy{ObjectMeta: name},
		"Secret":        &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace, Name: testName + "-store-password"}},
	}
	owners := map[string][]metav1.OwnerReference{
		"nobody": nil,
		"somebody": {{
			APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "other", UID: "f00", Controller: ptr.To(true),
		}},
		"an earlier backend of the name": {{
			APIVersion: "inferencecache.io/v1alpha1", Kind: "CacheBackend", Name: testName, UID: "gone", Controller: ptr.To(true),
		}},
		"the backend, but not as its controller": {{
			APIVersion: "inferencecache.io/v1alpha1", Kind: "CacheBackend", Name: testName, UID: testUID,
		}},
	}
	for kind, object := range objects {
		for owner, references := range owners {
			t.Run(kind+" of "+owner, func(t *testing.T) {
				inTheWay := object.DeepCopyObject().(client.Object)
				inTheWay.SetOwnerReferences(references)
				inTheWay.SetLabels(map[string]string{"theirs": "true"})
				h := newHarness(t, newBackend(managedRedis), inTheWay)
				before := object.DeepCopyObject().(client.Object)
				h.get(t, object.GetName(), before)
				for range 2 {
					h.look(t)
				}
				if got := h.ready(t); got != "False/OwnershipConflict" {
					t.Errorf("Ready is %s", got)
				}
				after := object.DeepCopyObject().(client.Object)
				h.get(t, object.GetName(), after)
				if diff := cmp.Diff(before, after); diff != "" {
					t.Errorf("the object was changed (-before +after):\n%s", diff)
				}
				// A changed spec takes back what is ours, not what is theirs.
				h.change(t, func(b *v1alpha1.CacheBackend) { b.Spec = newBackend(hostOnly).Spec })
				h.look(t)
				h.get(t, object.GetName(), after)
				if owned := h.owned(t); len(owned) > 0 {
					t.Errorf("%v are left", owned)
				}
			})
		}
	}
}

// TestRepairs holds that our fields are repaired and those of others are not
// touched.
func TestRepairs(t *testing.T) {
	h := newHarness(t, newBackend(managedRedis))
	h.look(t)
	h.serve(t)
	h.look(t)
	deployment := &appsv1.Deployment{}
	h.get(t, testName, deployment)
	want := deployment.DeepCopy()

	deployment.Spec.Template.Spec.Containers[0].Image = "example.com/other:1"
	deployment.Labels[workload.LabelName] = "other"
	deployment.Labels["theirs"] = "true"
	deployment.Spec.Template.Annotations["example.com/restarted-at"] = "today"
	deployment.Spec.Template.Spec.Containers = append(deployment.Spec.Template.Spec.Containers, corev1.Container{Name: "sidecar", Image: "example.com/sidecar:1"})
	if err := h.client.Update(t.Context(), deployment, client.FieldOwner("somebody")); err != nil {
		t.Fatal(err)
	}
	h.took()
	h.look(t)
	if diff := cmp.Diff([]string{"apply Deployment shared"}, h.took()); diff != "" {
		t.Errorf("wrong calls (-want +got):\n%s", diff)
	}
	got := &appsv1.Deployment{}
	h.get(t, testName, got)
	want.Labels["theirs"] = "true"
	want.Spec.Template.Annotations["example.com/restarted-at"] = "today"
	want.Spec.Template.Spec.Containers = append(want.Spec.Template.Spec.Containers, corev1.Container{Name: "sidecar", Image: "example.com/sidecar:1"})
	if diff := cmp.Diff(want.Labels, got.Labels); diff != "" {
		t.Errorf("wrong labels (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.Spec, got.Spec); diff != "" {
		t.Errorf("wrong spec (-want +got):\n%s", diff)
	}
}

// TestObjectIsMadeMeanwhile holds that an object is not taken over which somebody
// makes between the look for it and the making of ours.
func TestObjectIsMadeMeanwhile(t *testing.T) {
	h := newHarness(t, newBackend(managedRedis))
	theirs := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace, Name: testName}, Spec: corev1.ServiceSpec{
		Selector: map[string]string{"app": "theirs"}, Ports: []corev1.ServicePort{{Name: "redis", Port: 1234, Protocol: corev1.ProtocolTCP}},
	}}
	made := false
	h.fail(func(call string) error {
		if call != "apply Service shared" || made {
			return nil
		}
		made = true
		return h.client.Create(t.Context(), theirs, client.FieldOwner("somebody"))
	})
	if _, err := h.try(t); !apierrors.IsConflict(err) {
		t.Errorf("error %v", err)
	}
	h.fail(nil)
	h.look(t)
	if diff := cmp.Diff("False/OwnershipConflict", h.ready(t)); diff != "" {
		t.Errorf("wrong condition (-want +got):\n%s", diff)
	}
	got := &corev1.Service{}
	h.get(t, testName, got)
	if diff := cmp.Diff(theirs.Spec, got.Spec); diff != "" || len(got.OwnerReferences) > 0 {
		t.Errorf("somebody else's Service is owned by %v (-was +is):\n%s", got.OwnerReferences, diff)
	}
}

// TestObjectIsDeleted holds that what somebody deletes is made again.
func TestObjectIsDeleted(t *testing.T) {
	h := newHarness(t, newBackend(managedRedis))
	h.look(t)
	for _, object := range []client.Object{&appsv1.Deployment{}, &corev1.Service{}, &networkingv1.NetworkPolicy{}} {
		h.get(t, testName, object)
		if err := h.client.Delete(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		h.look(t)
		if diff := cmp.Diff(redisObjects, h.owned(t)); diff != "" {
			t.Errorf("%T: wrong objects (-want +got):\n%s", object, diff)
		}
	}
}

// TestServiceChangesKind holds that a Service which becomes headless, or stops to
// be, is made anew in the next look.
func TestServiceChangesKind(t *testing.T) {
	h := newHarness(t, newBackend(managedLMCacheServer))
	h.look(t)
	h.change(t, func(b *v1alpha1.CacheBackend) { b.Spec = newBackend(managedMooncake).Spec })
	if _, err := h.try(t); !errors.Is(err, errLeaving) {
		t.Errorf("got the error %v, want one that has it tried again", err)
	}
	h.look(t)
	service := &corev1.Service{}
	h.get(t, testName, service)
	if service.Spec.ClusterIP != corev1.ClusterIPNone {
		t.Errorf("the Service of a Mooncake store has the address %q, want none", service.Spec.ClusterIP)
	}
}

// TestAutoscaler holds that the number which an autoscaler has chosen stands, and is
// only raised to the floor.
func TestAutoscaler(t *testing.T) {
	scaled := newBackend(managedLMCacheServer)
	scaled.Spec.Autoscaling = &v1alpha1.AutoscalingSpec{MinReplicas: ptr.To[int32](2), MaxReplicas: 5}
	h := newHarness(t, scaled)
	h.look(t)
	h.look(t)
	tests := []struct {
		name       string
		live, want int32
		calls      []string
	}{
		{name: "above the floor", live: 4, want: 4},
		{name: "at the floor", live: 2, want: 2},
		{name: "below the floor", live: 1, want: 2, calls: []string{"apply Deployment shared"}},
	}
	for _, tc := range tests {
		deployment := &appsv1.Deployment{}
		h.get(t, testName, deployment)
		deployment.Spec.Replicas = ptr.To(tc.live)
		if err := h.client.Update(t.Context(), deployment, client.FieldOwner("autoscaler")); err != nil {
			t.Fatal(err)
		}
		h.took()
		h.look(t)
		calls := slices.DeleteFunc(h.took(), func(call string) bool { return call == "patch status CacheBackend" })
		if diff := cmp.Diff(tc.calls, calls, cmp.Transformer("empty", func(s []string) []string { return append([]string{}, s...) })); diff != "" {
			t.Errorf("%s: wrong calls (-want +got):\n%s", tc.name, diff)
		}
		h.get(t, testName, deployment)
		if got := *deployment.Spec.Replicas; got != tc.want {
			t.Errorf("%s: %d replicas, want %d", tc.name, got, tc.want)
		}
	}
	hpa := &autoscalingv2.HorizontalPodAutoscaler{}
	h.get(t, testName, hpa)
	if hpa.Spec.ScaleTargetRef.Kind != "Deployment" || *hpa.Spec.MinReplicas != 2 || hpa.Spec.MaxReplicas != 5 {
		t.Errorf("wrong autoscaler: %+v", hpa.Spec)
	}
}

// TestRefused holds that what the cluster refuses is said in the status, and not
// tried as if it might succeed.
func TestRefused(t *testing.T) {
	h := newHarness(t, newBackend(managedRedis))
	h.fail(func(call string) error {
		if call == "apply Deployment shared" {
			return apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "Deployment"}, testName, nil)
		}
		return nil
	})
	if after := h.look(t); after == 0 {
		t.Error("nobody looks again")
	}
	ready := meta.FindStatusCondition(h.backend(t).Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil || ready.Status != metav1.ConditionFalse {
		t.Fatalf("Ready is %+v", ready)
	}
	h.fail(nil)
	h.look(t)
	if diff := cmp.Diff(redisObjects, h.owned(t)); diff != "" {
		t.Errorf("wrong objects (-want +got):\n%s", diff)
	}
}

// TestForbidden holds that what the cluster forbids is said in the status and tried
// again before long, because a right may only be new.
func TestForbidden(t *testing.T) {
	h := newHarness(t, newBackend(managedRedis))
	refusal := apierrors.NewForbidden(schema.GroupResource{Group: "apps", Resource: "deployments"}, testName, errors.New("the quota is used up"))
	h.fail(func(call string) error {
		if call == "apply Deployment shared" {
			return refusal
		}
		return nil
	})
	if _, err := h.try(t); !errors.Is(err, refusal) {
		t.Errorf("got the error %v, want %v", err, refusal)
	}
	ready := meta.FindStatusCondition(h.backend(t).Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil || ready.Status != metav1.ConditionFalse || !strings.Contains(ready.Message, "the quota is used up") {
		t.Errorf("Ready is %+v", ready)
	}
}

// TestOutage holds that a cluster which does not answer loses nothing and is asked
// again.
func TestOutage(t *testing.T) {
	h := newHarness(t, newBackend(managedRedis), index())
	h.look(t)
	h.serve(t)
	h.look(t)
	want := h.backend(t)
	deployment := &appsv1.Deployment{}
	h.get(t, testName, deployment)
	deployment.Spec.Template.Spec.Containers[0].Image = "example.com/other:1"
	if err := h.client.Update(t.Context(), deployment); err != nil {
		t.Fatal(err)
	}
	h.fail(func(string) error { return apierrors.NewServiceUnavailable("the cluster is away") })
	for range 3 {
		h.pass(lastRetry)
		if _, err := h.try(t); err == nil {
			t.Error("no error, so that nobody tries again")
		}
	}
	h.fail(nil)
	if diff := cmp.Diff(want.Status, h.backend(t).Status); diff != "" {
		t.Errorf("the status has changed (-before +after):\n%s", diff)
	}
	h.look(t)
	h.get(t, testName, deployment)
	if got := deployment.Spec.Template.Spec.Containers[0].Image; got == "example.com/other:1" {
		t.Error("nothing was repaired after the outage")
	}
}

// TestStatusInSpiteOfFailure holds that the status is written although an apply has
// failed, and that the failure is returned.
func TestStatusInSpiteOfFailure(t *testing.T) {
	h := newHarness(t, newBackend(managedRedis))
	failure := apierrors.NewTimeoutError("slow", 1)
	h.fail(func(call string) error {
		if call == "apply Service shared" {
			return failure
		}
		return nil
	})
	if _, err := h.try(t); !errors.Is(err, failure) {
		t.Errorf("got the error %v, want %v", err, failure)
	}
	if got := h.ready(t); got == "" {
		t.Error("no condition was written")
	}
	if got := h.backend(t).Status.Endpoint; got != "" {
		t.Errorf("endpoint %q of a Service that is not there", got)
	}
}

// TestStaleStatus holds that a status which was not the one that was judged is not
// overwritten, and that no Event tells of what was not written.
func TestStaleStatus(t *testing.T) {
	h := newHarness(t, newBackend(hostOnly))
	h.fail(func(call string) error {
		if call == "patch status CacheBackend" {
			return apierrors.NewConflict(v1alpha1.Resource("cachebackends"), testName, nil)
		}
		return nil
	})
	if after := h.look(t); after != staleRetry {
		t.Errorf("it is looked at again after %s, want %s", after, staleRetry)
	}
	if n := len(h.recorder.Events); n != 0 {
		t.Errorf("%d Events tell of a status that is not there", n)
	}
	h.fail(nil)
	h.look(t)
	if n := len(h.recorder.Events); n == 0 {
		t.Error("no Event tells of the status")
	}
}

// TestDeletedBackend holds that a backend which goes is left to the collector, and
// that nothing of it is remembered.
func TestDeletedBackend(t *testing.T) {
	backend := newBackend(managedRedis)
	backend.Finalizers = []string{"example.com/hold"}
	h := newHarness(t, backend)
	h.look(t)
	if err := h.client.Delete(t.Context(), h.backend(t)); err != nil {
		t.Fatal(err)
	}
	h.took()
	h.look(t)
	if calls := slices.DeleteFunc(h.took(), func(string) bool { return false }); len(calls) > 0 {
		t.Errorf("calls for a backend that is being deleted: %v", calls)
	}
	going := h.backend(t)
	going.Finalizers = nil
	if err := h.client.Update(context.WithoutCancel(t.Context()), going); err != nil {
		t.Fatal(err)
	}
	h.look(t)
	if n := len(h.applier.memo.backends) + len(h.credentials.known) + len(h.prober.backends); n != 0 {
		t.Errorf("%d things are remembered of a backend that is gone", n)
	}
}
