/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachetenant

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	testingclock "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/registry/table/tabletest"
)

// testTenant returns a valid CacheTenant as it is after defaulting, changed by
// the given functions.
func testTenant(changes ...func(*inferencecache.CacheTenant)) *inferencecache.CacheTenant {
	tenant := &inferencecache.CacheTenant{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "ns", Generation: 4, ResourceVersion: "5"},
		Spec: inferencecache.CacheTenantSpec{
			TenantID:      "acme",
			IsolationMode: inferencecache.IsolationModeFairness,
		},
	}
	for _, change := range changes {
		change(tenant)
	}
	return tenant
}

// withStatus gives a tenant a status.
func withStatus(tenant *inferencecache.CacheTenant) {
	tenant.Status = inferencecache.CacheTenantStatus{IndexEntries: ptr.To[int64](3), ObservedGeneration: 3}
}

func TestStrategyPrepares(t *testing.T) {
	main := newStrategy(runtime.NewScheme(), fakeNamespaces{"team-b": nil})
	status := newStatusStrategy(main)
	changed := func(c *inferencecache.CacheTenant) {
		c.Spec.Quota = &inferencecache.CacheTenantQuota{MaxIndexEntries: ptr.To[int64](100)}
		c.Status.ObservedGeneration = 9
		c.Labels = map[string]string{"k": "v"}
	}
	tests := map[string]struct {
		prepare func(obj, old *inferencecache.CacheTenant)
		want    *inferencecache.CacheTenant
	}{
		"create": {
			prepare: func(obj, _ *inferencecache.CacheTenant) { main.PrepareForCreate(t.Context(), obj) },
			want: testTenant(changed, func(c *inferencecache.CacheTenant) {
				c.Generation, c.Status = 1, inferencecache.CacheTenantStatus{}
			}),
		},
		"update": {
			prepare: func(obj, old *inferencecache.CacheTenant) { main.PrepareForUpdate(t.Context(), obj, old) },
			want:    testTenant(changed, withStatus, func(c *inferencecache.CacheTenant) { c.Generation = 5 }),
		},
		"status update": {
			prepare: func(obj, old *inferencecache.CacheTenant) { status.PrepareForUpdate(t.Context(), obj, old) },
			want:    testTenant(func(c *inferencecache.CacheTenant) { c.Status.ObservedGeneration = 9 }),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			obj := testTenant(changed)
			test.prepare(obj, testTenant(withStatus))
			if diff := cmp.Diff(test.want, obj); diff != "" {
				t.Errorf("object (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStrategyValidates(t *testing.T) {
	strategy := newStrategy(runtime.NewScheme(), fakeNamespaces{"team-b": nil})
	broken := testTenant(func(c *inferencecache.CacheTenant) { c.Spec.IsolationMode = "Crypto" })
	labelled := broken.DeepCopy()
	labelled.Labels = map[string]string{"k": "v"}
	tests := map[string]struct {
		errs    int
		refused bool
	}{
		"valid":                             {errs: len(strategy.Validate(t.Context(), testTenant()))},
		"unknown isolation":                 {errs: len(strategy.Validate(t.Context(), broken)), refused: true},
		"update to an unknown isolation":    {errs: len(strategy.ValidateUpdate(t.Context(), broken, testTenant())), refused: true},
		"unrelated edit of a broken object": {errs: len(strategy.ValidateUpdate(t.Context(), labelled, broken))},
		"status":                            {errs: len(newStatusStrategy(strategy).ValidateUpdate(t.Context(), testTenant(withStatus), testTenant()))},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if refused := test.errs > 0; refused != test.refused {
				t.Errorf("refused is %t, want %t", refused, test.refused)
			}
		})
	}
}

func TestTable(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	created := metav1.NewTime(now.Add(-time.Hour))
	full := testTenant(withStatus, func(c *inferencecache.CacheTenant) {
		c.Name, c.CreationTimestamp = "full", created
		c.Spec.Quota = &inferencecache.CacheTenantQuota{MaxIndexEntries: ptr.To[int64](0)}
		c.Status.Conditions = []metav1.Condition{
			{Type: "Ready", Status: metav1.ConditionTrue},
			{Type: "QuotaExceeded", Status: metav1.ConditionFalse},
		}
	})
	bare := &inferencecache.CacheTenant{ObjectMeta: metav1.ObjectMeta{Name: "bare", CreationTimestamp: created}}
	list := &inferencecache.CacheTenantList{Items: []inferencecache.CacheTenant{*full, *bare}}
	tests := map[string]struct {
		wide bool
		want string
	}{
		"narrow": {want: `
NAME   TENANT   ENTRIES   QUOTA    ISOLATION   AGE
full   acme     3         0        Fairness    60m
bare   <none>   <none>    <none>   <none>      60m
`},
		"wide": {wide: true, want: `
NAME   TENANT   ENTRIES   QUOTA    ISOLATION   AGE   READY    OVERQUOTA
full   acme     3         0        Fairness    60m   True     False
bare   <none>   <none>    <none>   <none>      60m   <none>   <none>
`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := tabletest.Print(t, newTable(testingclock.NewFakePassiveClock(now)), list, test.wide)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("table (-want +got):\n%s", diff)
			}
		})
	}
}
