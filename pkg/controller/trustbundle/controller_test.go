/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package trustbundle

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"inferencecache.io/inference-cache/pkg/adapters/workload"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

const own = "system"

// backend returns one that has engines to report.
func backend(namespace, name string) *v1alpha1.CacheBackend {
	return &v1alpha1.CacheBackend{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-" + name)},
		Spec: v1alpha1.CacheBackendSpec{
			Runtime:        v1alpha1.RuntimeVLLM,
			EngineSelector: &v1alpha1.EngineSelector{MatchLabels: map[string]string{"app": name}},
			Observation:    &v1alpha1.ObservationSpec{ModelID: "m"},
		},
	}
}

func bundle(namespace, content string, labels map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: Name, Labels: labels},
		Data:       map[string]string{"ca.crt": content},
	}
}

func newReconciler(t *testing.T, writes *int, objects ...client.Object) *Reconciler {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			*writes++
			return c.Apply(ctx, object, options...)
		},
	}).Build()
	return &Reconciler{client: c, own: own}
}

func TestReconcile(t *testing.T) {
	unobserved, unselective := backend("team-a", "x"), backend("team-a", "y")
	unobserved.Spec.Observation, unselective.Spec.EngineSelector = nil, nil
	ours := map[string]string{workload.LabelManagedBy: workload.ManagedByValue}
	tests := map[string]struct {
		objects []client.Object
		// want is the content in team-a, empty for no ConfigMap.
		want   string
		owners []string
		writes int
	}{
		"nothing is published":      {objects: []client.Object{backend("team-a", "a")}},
		"nobody reports":            {objects: []client.Object{bundle(own, "one", nil), unobserved, unselective, backend("team-b", "b")}},
		"the first backend":         {objects: []client.Object{bundle(own, "one", nil), backend("team-a", "a"), unobserved}, want: "one", owners: []string{"a"}, writes: 1},
		"several":                   {objects: []client.Object{bundle(own, "one", nil), backend("team-a", "b"), backend("team-a", "a")}, want: "one", owners: []string{"a", "b"}, writes: 1},
		"an authority was replaced": {objects: []client.Object{bundle(own, "two", nil), backend("team-a", "a"), bundle("team-a", "one", ours)}, want: "two", owners: []string{"a"}, writes: 1},
		"somebody else's":           {objects: []client.Object{bundle(own, "one", nil), backend("team-a", "a"), bundle("team-a", "theirs", nil)}, want: "theirs"},
		"empty at the source":       {objects: []client.Object{bundle(own, "", nil), backend("team-a", "a")}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			writes := 0
			r := newReconciler(t, &writes, tc.objects...)
			for range 2 {
				if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "team-a"}}); err != nil {
					t.Fatal(err)
				}
			}
			if writes != tc.writes {
				t.Errorf("%d writes in two rounds, want %d", writes, tc.writes)
			}
			got := &corev1.ConfigMap{}
			err := r.client.Get(t.Context(), types.NamespacedName{Namespace: "team-a", Name: Name}, got)
			if apierrors.IsNotFound(err) && tc.want == "" {
				return
			}
			if err != nil || got.Data["ca.crt"] != tc.want {
				t.Fatalf("content %q, error %v, want %q", got.Data["ca.crt"], err, tc.want)
			}
			var owners []string
			for _, owner := range got.OwnerReferences {
				owners = append(owners, owner.Name)
			}
			if diff := cmp.Diff(tc.owners, owners, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("owners (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOwnNamespace leaves the original alone.
func TestOwnNamespace(t *testing.T) {
	writes := 0
	r := newReconciler(t, &writes, bundle(own, "one", nil), backend(own, "a"))
	if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: own}}); err != nil || writes > 0 {
		t.Errorf("%d writes, error %v", writes, err)
	}
}

func TestOfConfigMap(t *testing.T) {
	writes := 0
	r := newReconciler(t, &writes, backend("team-b", "b"), backend("team-a", "a"), backend("team-a", "c"))
	tests := map[string]struct {
		namespace string
		want      []string
	}{
		"the original": {own, []string{"team-a", "team-b"}},
		"a copy":       {"team-c", []string{"team-c"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, request := range r.ofConfigMap(t.Context(), bundle(tc.namespace, "", nil)) {
				got = append(got, request.Namespace)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("namespaces (-want +got):\n%s", diff)
			}
		})
	}
}
