/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"inferencecache.io/inference-cache/pkg/adapters"
	"inferencecache.io/inference-cache/pkg/adapters/workload"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// start is when every test begins.
var start = time.Date(2026, time.December, 1, 12, 0, 0, 0, time.UTC)

// Names of the backend of every test.
const (
	testNamespace = "team-a"
	testName      = "shared"
	testUID       = types.UID("0d1f")
)

// harness is a reconciler over a cluster that is a fake.
type harness struct {
	*Reconciler

	client   client.WithWatch
	recorder *events.FakeRecorder

	mu  sync.Mutex
	now time.Time
	// calls are those that go to the cluster and not to a cache, since the last time
	// that they were taken.
	calls []string
	// refuse makes calls fail, by what is noted of them.
	refuse func(call string) error
}

// newHarness starts with some objects in the cluster.
func newHarness(t *testing.T, objects ...client.Object) *harness {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	h := &harness{now: start, recorder: events.NewFakeRecorder(100)}
	build := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&v1alpha1.CacheBackend{}).WithObjects(objects...).
		WithReturnManagedFields().WithTypeConverters(newConverter(scheme))
	for _, kind := range ownedKinds() {
		build = build.WithIndex(kind, controllerField, indexController)
	}
	h.client = build.WithInterceptorFuncs(h.watchWrites()).Build()
	h.Reconciler = h.newReconciler(t)
	return h
}

// newReconciler is one that knows nothing yet, as after a restart.
func (h *harness) newReconciler(t *testing.T) *Reconciler {
	t.Helper()
	metrics, err := newMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	live := interceptor.NewClient(h.client, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if err := h.note("get", object, key.Name); err != nil {
				return err
			}
			return c.Get(ctx, key, object, options...)
		},
		List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
			return fmt.Errorf("the cluster is asked for a list: %T", list)
		},
	})
	return &Reconciler{
		client: h.client, now: h.clock, namespace: "inference-cache-system",
		registry:    adapters.All(),
		applier:     &applier{cached: h.client, live: live, scheme: h.client.Scheme(), memo: newMemo()},
		credentials: newCredentials(live, h.clock, rand.NewChaCha8([32]byte{})),
		prober:      newProber(h.client, h.clock, func() string { return "nonce" }),
		restarter:   &restarter{live: live, client: h.client},
		recorder:    h.recorder,
		metrics:     metrics,
	}
}

func (h *harness) clock() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

// pass lets time go by.
func (h *harness) pass(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

// note remembers a call, and says whether it fails.
func (h *harness) note(verb string, object any, name string) error {
	kind := strings.TrimPrefix(fmt.Sprintf("%T", object), "*")
	if u, ok := object.(interface{ GetKind() string }); ok {
		kind = u.GetKind()
	}
	if u, ok := object.(interface{ GetKind() *string }); ok {
		kind = ptr.Deref(u.GetKind(), "")
	}
	kind = kind[strings.LastIndex(kind, ".")+1:]
	h.mu.Lock()
	defer h.mu.Unlock()
	call := strings.TrimSpace(verb + " " + kind + " " + name)
	h.calls = append(h.calls, call)
	if h.refuse != nil {
		return h.refuse(call)
	}
	return nil
}

// took returns the calls since it was last asked, in the order of their text.
func (h *harness) took() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	calls := h.calls
	h.calls = nil
	slices.Sort(calls)
	return calls
}

// fail makes calls fail from now on; nil lets them succeed.
func (h *harness) fail(refuse func(call string) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refuse = refuse
}

// watchWrites notes what is written.
func (h *harness) watchWrites() interceptor.Funcs {
	return interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			named, _ := object.(interface{ GetName() *string })
			name := ""
			if named != nil {
				name = ptr.Deref(named.GetName(), "")
			} else if u, ok := object.(interface{ GetName() string }); ok {
				name = u.GetName()
			}
			if err := h.note("apply", object, name); err != nil {
				return err
			}
			return c.Apply(ctx, object, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if err := h.note("patch", object, object.GetName()); err != nil {
				return err
			}
			return c.Patch(ctx, object, patch, options...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			if err := h.note("delete", object, object.GetName()); err != nil {
				return err
			}
			return c.Delete(ctx, object, options...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			if err := h.note("patch "+sub, object, ""); err != nil {
				return err
			}
			return c.SubResource(sub).Patch(ctx, object, patch, options...)
		},
		SubResourceGet: func(_ context.Context, _ client.Client, sub string, object, answer client.Object, _ ...client.SubResourceGetOption) error {
			if observation, ok := answer.(*v1alpha1.CacheBackendObservation); ok {
				observation.Summary.Blocks.T2 = 7
			}
			return h.note("get "+sub, object, "")
		},
		SubResourceCreate: func(_ context.Context, _ client.Client, sub string, object, answer client.Object, _ ...client.SubResourceCreateOption) error {
			if probe, ok := answer.(*v1alpha1.CacheBackendProbe); ok {
				probe.Status.Stages = []v1alpha1.ProbeStage{
					{Name: v1alpha1.ProbeStageIngest, Result: v1alpha1.ProbeResultOK}, {Name: v1alpha1.ProbeStageRouting, Result: v1alpha1.ProbeResultOK},
				}
			}
			return h.note("create "+sub, object, "")
		},
	}
}

// look reconciles the backend once.
func (h *harness) look(t *testing.T) time.Duration {
	t.Helper()
	result, err := h.try(t)
	if err != nil {
		t.Fatal(err)
	}
	return result.RequeueAfter
}

func (h *harness) try(t *testing.T) (reconcile.Result, error) {
	t.Helper()
	return h.Reconcile(t.Context(), reconcile.Request{NamespacedName: backendKey()})
}

// backend reads the backend.
func (h *harness) backend(t *testing.T) *v1alpha1.CacheBackend {
	t.Helper()
	backend := &v1alpha1.CacheBackend{}
	h.get(t, testName, backend)
	return backend
}

func (h *harness) get(t *testing.T, name string, object client.Object) {
	t.Helper()
	if err := h.client.Get(t.Context(), client.ObjectKey{Namespace: testNamespace, Name: name}, object); err != nil {
		t.Fatal(err)
	}
}

// change edits the spec or the annotations of the backend.
func (h *harness) change(t *testing.T, edit func(*v1alpha1.CacheBackend)) {
	t.Helper()
	backend := h.backend(t)
	edit(backend)
	backend.Generation++
	if err := h.client.Update(t.Context(), backend); err != nil {
		t.Fatal(err)
	}
}

// ready returns condition Ready as its status and reason.
func (h *harness) ready(t *testing.T) string {
	t.Helper()
	ready := meta.FindStatusCondition(h.backend(t).Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil {
		return ""
	}
	return string(ready.Status) + "/" + ready.Reason
}

// is says whether a condition has a status and a reason.
func (h *harness) is(t *testing.T, conditionType, want string) bool {
	t.Helper()
	condition := meta.FindStatusCondition(h.backend(t).Status.Conditions, conditionType)
	return condition != nil && string(condition.Status)+"/"+condition.Reason == want
}

// backendKey names the backend of every test.
func backendKey() types.NamespacedName {
	return types.NamespacedName{Namespace: testNamespace, Name: testName}
}

// owned returns what the backend controls, Secrets too, as kind and name.
func (h *harness) owned(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, list := range append(ownedLists(), &corev1.SecretList{}) {
		if err := h.client.List(t.Context(), list, client.InNamespace(testNamespace)); err != nil {
			t.Fatal(err)
		}
		err := meta.EachListItem(list, func(item runtime.Object) error {
			object := item.(client.Object)
			if metav1.IsControlledBy(object, &v1alpha1.CacheBackend{ObjectMeta: metav1.ObjectMeta{UID: testUID}}) {
				kind := fmt.Sprintf("%T", item)
				found = append(found, kind[strings.LastIndex(kind, ".")+1:]+" "+object.GetName())
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(found)
	return found
}

// serve makes the store available, with a Pod.
func (h *harness) serve(t *testing.T) {
	t.Helper()
	deployment := &appsv1.Deployment{}
	h.get(t, testName, deployment)
	n := ptr.Deref(deployment.Spec.Replicas, 1)
	deployment.Status = appsv1.DeploymentStatus{Replicas: n, UpdatedReplicas: n, ReadyReplicas: n, AvailableReplicas: n}
	if err := h.client.Status().Update(t.Context(), deployment); err != nil {
		t.Fatal(err)
	}
	pod := storePod("store-0", "u1", deployment.Spec.Template.Spec.Containers[0].Name, 0)
	if err := h.client.Create(t.Context(), pod); client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
}

// storePod is a Pod of the store that is ready.
func storePod(name string, uid types.UID, container string, restarts int32) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: testNamespace, Name: name, UID: uid,
			Labels: workload.Selector(&v1alpha1.CacheBackend{ObjectMeta: metav1.ObjectMeta{Name: testName}}),
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: container}}},
		Status: corev1.PodStatus{
			Phase:             corev1.PodRunning,
			Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
			ContainerStatuses: []corev1.ContainerStatus{{Name: container, Ready: true, RestartCount: restarts}},
		},
	}
}

// enginePod is a Pod that the backend selects and has wired.
func enginePod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: testNamespace, Name: name, UID: types.UID(name), Labels: map[string]string{"app": "engine"},
			Annotations: map[string]string{
				v1alpha1.AnnotationInjectedBy: testNamespace + "/" + testName, v1alpha1.AnnotationInjectedByUID: string(testUID),
			},
		},
		Spec:   corev1.PodSpec{Containers: []corev1.Container{{Name: "sglang"}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

// index is a live index in which the backend has an event.
func index() *v1alpha1.CacheIndex {
	at := metav1.NewTime(start)
	return &v1alpha1.CacheIndex{
		ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.CacheIndexName},
		Status: v1alpha1.CacheIndexStatus{Complete: true, Backends: []v1alpha1.CacheIndexBackend{{
			Namespace: testNamespace, Name: testName, UID: testUID, PrefixCount: 3, LastEventAt: &at, Complete: true,
		}}},
	}
}
