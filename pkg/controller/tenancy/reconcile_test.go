/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tenancy

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// cluster is a client over objects, and counts the writes.
func cluster(t *testing.T, funcs interceptor.Funcs, objects ...client.Object) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&v1alpha1.CacheTenant{}, &v1alpha1.CachePolicy{}).
		WithIndex(&v1alpha1.CacheTenant{}, byTenantID, tenantIDOf).
		WithInterceptorFuncs(funcs).Build()
}

// counted counts patches of a status.
func counted(writes *int) interceptor.Funcs {
	return interceptor.Funcs{SubResourcePatch: func(ctx context.Context, c client.Client, subResource string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
		*writes++
		return c.SubResource(subResource).Patch(ctx, object, patch, options...)
	}}
}

func indexWith(complete bool, id string, entries int64) *v1alpha1.CacheIndex {
	return &v1alpha1.CacheIndex{
		ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.CacheIndexName},
		Status: v1alpha1.CacheIndexStatus{Complete: complete, Tenants: []v1alpha1.CacheIndexTenant{
			{ID: "another", IndexEntries: ptr.To[int64](99)}, {ID: id, IndexEntries: &entries},
		}},
	}
}

func TestReconcileTenant(t *testing.T) {
	observed := map[string]string{v1alpha1.ConditionReady: "True/Observed", v1alpha1.ConditionQuotaExceeded: "False/NoQuota"}
	duplicate := map[string]string{v1alpha1.ConditionReady: "False/DuplicateTenantID", v1alpha1.ConditionQuotaExceeded: "False/NotEffective"}
	tenant := ptr.To(claim("team-a", "tenant"))
	tests := map[string]struct {
		objects []client.Object
		want    map[string]string
		entries *int64
	}{
		"a tenant with entries":            {[]client.Object{tenant, indexWith(true, "acme", 7)}, observed, ptr.To[int64](7)},
		"a claim that comes before":        {[]client.Object{tenant, ptr.To(claim("aaa", "z")), indexWith(true, "acme", 7)}, duplicate, nil},
		"a namespace of the tenant's name": {[]client.Object{tenant, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "acme"}}}, duplicate, nil},
		"an index that does not exist":     {[]client.Object{tenant}, map[string]string{}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			writes := 0
			objects := make([]client.Object, len(tc.objects))
			for i, object := range tc.objects {
				objects[i] = object.DeepCopyObject().(client.Object)
			}
			c := cluster(t, counted(&writes), objects...)
			r := &TenantReconciler{client: c, now: func() time.Time { return start }}
			request := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(tenant)}
			for range 2 {
				result, err := r.Reconcile(t.Context(), request)
				if err != nil || result.RequeueAfter != SteadyInterval {
					t.Fatalf("Reconcile returned %v, %v", result, err)
				}
			}
			if writes != 1 {
				t.Errorf("%d writes, want 1", writes)
			}
			got := &v1alpha1.CacheTenant{}
			if err := c.Get(t.Context(), request.NamespacedName, got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, conditions(got.Status.Conditions)); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.entries, got.Status.IndexEntries); diff != "" {
				t.Errorf("indexEntries (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReconcilePolicy(t *testing.T) {
	writes := 0
	policy := func(name string) *v1alpha1.CachePolicy {
		return &v1alpha1.CachePolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name, Generation: 1}}
	}
	c := cluster(t, counted(&writes), policy("a"), policy("b"))
	r := &PolicyReconciler{client: c, now: func() time.Time { return start }}
	for name, want := range map[string]string{"a": "True/Observed", "b": "False/NotEffective"} {
		request := reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "team-a", Name: name}}
		for range 2 {
			if _, err := r.Reconcile(t.Context(), request); err != nil {
				t.Fatal(err)
			}
		}
		got := &v1alpha1.CachePolicy{}
		if err := c.Get(t.Context(), request.NamespacedName, got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]string{v1alpha1.ConditionReady: want}, conditions(got.Status.Conditions)); diff != "" {
			t.Errorf("conditions of %s (-want +got):\n%s", name, diff)
		}
	}
	if writes != 2 {
		t.Errorf("%d writes, want 2", writes)
	}
	if diff := cmp.Diff(2, len(r.beside(t.Context(), policy("a")))); diff != "" {
		t.Errorf("policies that a change concerns (-want +got):\n%s", diff)
	}
}

func TestReconcileWithoutAnAnswer(t *testing.T) {
	down := errors.New("the cluster does not answer")
	gone := reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "team-a", Name: "gone"}}
	request := reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "team-a", Name: "tenant"}}
	reads := func(kinds ...client.Object) interceptor.Funcs {
		return interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			for _, kind := range kinds {
				if reflect.TypeOf(kind) == reflect.TypeOf(object) {
					return down
				}
			}
			return c.Get(ctx, key, object, options...)
		}}
	}
	lists := interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return down }}
	patches := interceptor.Funcs{SubResourcePatch: func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
		return down
	}}
	tests := map[string]struct {
		funcs   interceptor.Funcs
		request reconcile.Request
		want    error
	}{
		"the tenant is gone":           {interceptor.Funcs{}, gone, nil},
		"the tenant cannot be read":    {reads(&v1alpha1.CacheTenant{}, &v1alpha1.CachePolicy{}), request, down},
		"the claims cannot be listed":  {lists, request, down},
		"the status cannot be written": {patches, request, down},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := cluster(t, tc.funcs, ptr.To(claim("team-a", "tenant")), &v1alpha1.CachePolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "tenant"}})
			now := func() time.Time { return start }
			if _, err := (&TenantReconciler{client: c, now: now}).Reconcile(t.Context(), tc.request); !errors.Is(err, tc.want) {
				t.Errorf("the tenant: %v, want %v", err, tc.want)
			}
			if _, err := (&PolicyReconciler{client: c, now: now}).Reconcile(t.Context(), tc.request); !errors.Is(err, tc.want) {
				t.Errorf("the policy: %v, want %v", err, tc.want)
			}
		})
	}
	for name, kind := range map[string]client.Object{"the index": &v1alpha1.CacheIndex{}, "namespaces": &metav1.PartialObjectMetadata{}} {
		t.Run(name+" cannot be read", func(t *testing.T) {
			c := cluster(t, reads(kind), ptr.To(claim("team-a", "tenant")))
			if _, err := (&TenantReconciler{client: c, now: time.Now}).Reconcile(t.Context(), request); !errors.Is(err, down) {
				t.Errorf("Reconcile returned %v, want %v", err, down)
			}
		})
	}
}

func TestTenantsConcerned(t *testing.T) {
	other := claim("team-b", "other")
	other.Spec.TenantID = "umbrella"
	c := cluster(t, interceptor.Funcs{}, ptr.To(claim("team-a", "one")), ptr.To(claim("team-b", "two")), &other)
	r := &TenantReconciler{client: c}
	request := func(namespace, name string) reconcile.Request {
		return reconcile.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: name}}
	}
	tests := map[string]struct{ got, want []reconcile.Request }{
		"by a claim":     {r.sharing(t.Context(), ptr.To(claim("x", "y"))), []reconcile.Request{request("team-a", "one"), request("team-b", "two")}},
		"by a namespace": {r.named(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "umbrella"}}), []reconcile.Request{request("team-b", "other")}},
		"by the index":   {r.all(t.Context(), &v1alpha1.CacheIndex{}), []reconcile.Request{request("team-a", "one"), request("team-b", "other"), request("team-b", "two")}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSharesChanged(t *testing.T) {
	tests := map[string]struct {
		before, after *v1alpha1.CacheIndex
		want          bool
	}{
		"it only grew":        {indexWith(true, "acme", 1), indexWith(true, "acme", 9), false},
		"it is whole again":   {indexWith(false, "acme", 1), indexWith(true, "acme", 1), true},
		"the first entry":     {indexWith(true, "acme", 0), indexWith(true, "acme", 1), true},
		"another tenant":      {indexWith(true, "acme", 1), indexWith(true, "umbrella", 1), true},
		"nothing has changed": {indexWith(true, "acme", 1), indexWith(true, "acme", 1), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := sharesChanged().Update(event.UpdateEvent{ObjectOld: tc.before, ObjectNew: tc.after}); got != tc.want {
				t.Errorf("tenants are looked at: %t, want %t", got, tc.want)
			}
		})
	}
}
