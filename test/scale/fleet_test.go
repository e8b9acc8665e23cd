//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package scale

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/generated/clientset/versioned"
)

const (
	// engines is how many Pods a backend selects, beside the one of its store.
	engines = 9
	// perNamespace is how many backends live together.
	perNamespace = 10
	// writers is how many objects of a fleet are made at a time.
	writers = 8
)

// kinds are all that a backend may own.
var kinds = map[string]schema.GroupVersionResource{
	"Deployment":              {Group: "apps", Version: "v1", Resource: "deployments"},
	"StatefulSet":             {Group: "apps", Version: "v1", Resource: "statefulsets"},
	"Service":                 {Version: "v1", Resource: "services"},
	"Secret":                  {Version: "v1", Resource: "secrets"},
	"NetworkPolicy":           {Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
	"HorizontalPodAutoscaler": {Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"},
	"PodDisruptionBudget":     {Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
}

// fleet is the administrator's view of all backends.
type fleet struct {
	kubernetes.Interface

	ours     versioned.Interface
	metadata metadata.Interface
	nodes    []string
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	config := environment.Cluster.Config()
	f := &fleet{}
	var err error
	if f.Interface, err = kubernetes.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	if f.ours, err = versioned.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	if f.metadata, err = metadata.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	nodes, err := f.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range nodes.Items {
		f.nodes = append(f.nodes, nodes.Items[i].Name)
	}
	return f
}

// grow makes backends with managed stores in namespaces of a prefix, each with its
// engines, and does not wait for the manager.
func (f *fleet) grow(ctx context.Context, prefix string, count int) error {
	namespace := func(n int) string { return fmt.Sprintf("%s-%d", prefix, n/perNamespace) }
	for n := 0; n < count; n += perNamespace {
		object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace(n)}}
		if _, err := f.CoreV1().Namespaces().Create(ctx, object, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	for n := 0; n < count; n += perNamespace {
		// Pods need this account.
		if err := poll(ctx, func() error {
			_, err := f.CoreV1().ServiceAccounts(namespace(n)).Get(ctx, "default", metav1.GetOptions{})
			return err
		}); err != nil {
			return err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for n := range count {
		group.Go(func() error { return f.add(ctx, namespace(n), n) })
	}
	return group.Wait()
}

// add makes one backend with its engines, which are bound to nodes at once.
func (f *fleet) add(ctx context.Context, namespace string, n int) error {
	name := fmt.Sprintf("cache-%d", n)
	labels := map[string]string{"app": "engine", "cache": name}
	backend, err := f.ours.InferencecacheV1alpha1().CacheBackends(namespace).Create(ctx, &v1alpha1.CacheBackend{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.CacheBackendSpec{
			Runtime:        v1alpha1.RuntimeSGLang,
			EngineSelector: &v1alpha1.EngineSelector{MatchLabels: labels},
			Observation:    &v1alpha1.ObservationSpec{ModelID: "example/model"},
			RemoteStorage:  &v1alpha1.RemoteStorage{Provider: v1alpha1.StorageProviderRedis, Ownership: v1alpha1.StorageOwnershipManaged},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	for i := range engines {
		_, err := f.CoreV1().Pods(namespace).Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-engine-%d", name, i), Labels: labels, Annotations: map[string]string{
				v1alpha1.AnnotationInjectedBy: namespace + "/" + name, v1alpha1.AnnotationInjectedByUID: string(backend.UID),
			}},
			Spec: corev1.PodSpec{
				NodeName:   f.nodes[(n*engines+i)%len(f.nodes)],
				Containers: []corev1.Container{{Name: "sglang", Image: "example.com/engine:1"}},
			},
		}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
	}
	return nil
}

// awaitConverged waits until there are so many backends, each with a store that runs
// and all of its engines counted. Engines that never report are all that is missing
// then, for which the manager may have lost patience already.
func (f *fleet) awaitConverged(t *testing.T, count int) {
	t.Helper()
	await(t, func() error {
		list, err := f.ours.InferencecacheV1alpha1().CacheBackends(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		missing := count
		for i := range list.Items {
			status := &list.Items[i].Status
			if status.MatchedEnginePods == nil || *status.MatchedEnginePods != engines || status.FirstAvailableAt == nil {
				continue
			}
			ready := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
			if ready != nil && (ready.Reason == v1alpha1.ReasonAwaitingFirstKVEvent || ready.Reason == v1alpha1.ReasonNoKVEventsObserved) {
				missing--
			}
		}
		if missing != 0 {
			return fmt.Errorf("%d of %d backends are not as they should be", missing, count)
		}
		return nil
	})
}

// owned returns what each backend controls, as kind and name, and how many of the
// objects have been changed since they were made.
func (f *fleet) owned(t *testing.T) (objects map[types.UID][]string, changed int) {
	t.Helper()
	objects = map[types.UID][]string{}
	for kind, resource := range kinds {
		list, err := f.metadata.Resource(resource).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			item := &list.Items[i]
			owner := metav1.GetControllerOf(item)
			if owner == nil || owner.Kind != "CacheBackend" {
				continue
			}
			objects[owner.UID] = append(objects[owner.UID], kind+" "+item.Name)
			if item.Generation > 1 {
				changed++
			}
		}
	}
	for _, names := range objects {
		slices.Sort(names)
	}
	return objects, changed
}

// checkOwned holds that every backend has exactly its objects, and that nobody else
// has any.
func (f *fleet) checkOwned(t *testing.T) {
	t.Helper()
	list, err := f.ours.InferencecacheV1alpha1().CacheBackends(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[types.UID][]string{}
	for i := range list.Items {
		name := list.Items[i].Name
		want[list.Items[i].UID] = []string{"Deployment " + name, "NetworkPolicy " + name, "Secret " + name + "-store-password", "Service " + name}
	}
	got, changed := f.owned(t)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("wrong objects (-want +got):\n%s", diff)
	}
	if changed > 0 {
		t.Errorf("%d objects were changed after they were made", changed)
	}
}
