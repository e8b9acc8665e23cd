/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tenancy

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// start is when every test begins.
var start = time.Date(2026, time.December, 1, 12, 0, 0, 0, time.UTC)

// claim returns a CacheTenant that claims tenantID acme.
func claim(namespace, name string) v1alpha1.CacheTenant {
	return v1alpha1.CacheTenant{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Generation: 2},
		Spec:       v1alpha1.CacheTenantSpec{TenantID: "acme"},
	}
}

// conditions are <status>/<reason> by type.
func conditions(list []metav1.Condition) map[string]string {
	found := map[string]string{}
	for _, c := range list {
		found[c.Type] = string(c.Status) + "/" + c.Reason
	}
	return found
}

// holdConditions checks what every condition promises.
func holdConditions(t *testing.T, list []metav1.Condition, generation int64) {
	t.Helper()
	for _, c := range list {
		if c.ObservedGeneration != generation || c.Message == "" || c.LastTransitionTime.IsZero() {
			t.Errorf("condition %s/%s speaks of generation %d since %s and says %q", c.Type, c.Reason, c.ObservedGeneration, c.LastTransitionTime, c.Message)
		}
	}
}

// judgedTenant judges facts and holds the status to what is promised of every status.
func judgedTenant(t *testing.T, facts TenantFacts) v1alpha1.CacheTenantStatus {
	t.Helper()
	before := facts.Tenant.DeepCopy()
	status := JudgeTenant(facts)
	if diff := cmp.Diff(before, facts.Tenant); diff != "" {
		t.Fatalf("the tenant was changed (-before +after):\n%s", diff)
	}
	again := facts
	again.Now = facts.Now.Add(time.Hour)
	again.Tenant = before
	again.Tenant.Status = status
	if diff := cmp.Diff(status, JudgeTenant(again)); diff != "" {
		t.Errorf("judging again changed the status (-first +second):\n%s", diff)
	}
	holdConditions(t, status.Conditions, facts.Tenant.Generation)
	return status
}

func TestJudgeTenant(t *testing.T) {
	type change = func(*TenantFacts)
	entries := func(n int64) change {
		return func(f *TenantFacts) { f.Index = &TenantShare{Complete: true, Entries: ptr.To(n)} }
	}
	rebuilding := func(n *int64) change {
		return func(f *TenantFacts) { f.Index = &TenantShare{Entries: n} }
	}
	unread := func(f *TenantFacts) { f.Index = nil }
	quota := func(n int64) change {
		return func(f *TenantFacts) { f.Tenant.Spec.Quota = &v1alpha1.CacheTenantQuota{MaxIndexEntries: &n} }
	}
	rival := func(namespace, name string) change {
		return func(f *TenantFacts) { f.Claims = append(f.Claims, claim(namespace, name)) }
	}
	alone := func(f *TenantFacts) { f.Claims, f.NamespaceExists = f.Claims[:1], false }
	namespace := func(f *TenantFacts) { f.NamespaceExists = true }
	home := func(f *TenantFacts) { f.Tenant.Namespace, f.Claims[0].Namespace = "acme", "acme" }
	both := func(ready, exceeded string) map[string]string {
		return map[string]string{v1alpha1.ConditionReady: ready, v1alpha1.ConditionQuotaExceeded: exceeded}
	}
	observed := func(exceeded string) map[string]string { return both("True/Observed", exceeded) }
	duplicate := both("False/DuplicateTenantID", "False/NotEffective")

	tests := map[string]struct {
		changes []change
		entries *int64
		want    map[string]string
		message string
	}{
		"Observed, NoQuota":                     {changes: []change{entries(7)}, entries: ptr.To[int64](7), want: observed("False/NoQuota")},
		"Observed: the index names no entry":    {changes: []change{func(f *TenantFacts) { f.Index = &TenantShare{Complete: true} }}, entries: ptr.To[int64](0), want: observed("False/NoQuota")},
		"NoQuota: a quota without a bound":      {changes: []change{entries(7), func(f *TenantFacts) { f.Tenant.Spec.Quota = &v1alpha1.CacheTenantQuota{} }}, entries: ptr.To[int64](7), want: observed("False/NoQuota")},
		"WithinBudget":                          {changes: []change{entries(7), quota(8)}, entries: ptr.To[int64](7), want: observed("False/WithinBudget")},
		"WithinBudget: to the last entry":       {changes: []change{entries(8), quota(8)}, entries: ptr.To[int64](8), want: observed("False/WithinBudget")},
		"WithinBudget: nothing of nothing":      {changes: []change{entries(0), quota(0)}, entries: ptr.To[int64](0), want: observed("False/WithinBudget")},
		"OverEntryBudget":                       {changes: []change{entries(9), quota(8)}, entries: ptr.To[int64](9), want: observed("True/OverEntryBudget")},
		"OverEntryBudget: it ends":              {changes: []change{all(entries(9), quota(8)), entries(3)}, entries: ptr.To[int64](3), want: observed("False/WithinBudget")},
		"OverEntryBudget: the index is lost":    {changes: []change{all(entries(9), quota(8)), unread}, entries: ptr.To[int64](9), want: observed("True/OverEntryBudget")},
		"OverEntryBudget: the index is rebuilt": {changes: []change{all(entries(9), quota(8)), rebuilding(ptr.To[int64](1))}, entries: ptr.To[int64](9), want: observed("True/OverEntryBudget")},
		"absent: the index was never read":      {changes: []change{unread}, want: map[string]string{}},
		"absent: it knows nothing of it yet":    {changes: []change{rebuilding(nil)}, want: map[string]string{}},
		"Observed: it knows some already":       {changes: []change{rebuilding(ptr.To[int64](1))}, entries: ptr.To[int64](1), want: observed("False/NoQuota")},
		"kept: it has not found the tenant yet": {changes: []change{entries(7), rebuilding(nil)}, entries: ptr.To[int64](7), want: observed("False/NoQuota")},
		"Observed: the other claim is later":    {changes: []change{entries(7), rival("team-b", "a")}, entries: ptr.To[int64](7), want: observed("False/NoQuota")},
		"Observed: the later of one namespace":  {changes: []change{entries(7), rival("team-a", "z")}, entries: ptr.To[int64](7), want: observed("False/NoQuota")},
		"Observed: the namespace is its own":    {changes: []change{entries(7), home, namespace, rival("aaa", "a")}, entries: ptr.To[int64](7), want: observed("False/NoQuota")},
		"DuplicateTenantID: an earlier one":     {changes: []change{all(entries(7), rival("team-a", "a"))}, want: duplicate, message: `CacheTenant "a" of this namespace has the tenantID`},
		"DuplicateTenantID: another namespace":  {changes: []change{all(entries(7), rival("aaa", "z"))}, want: duplicate, message: "of another namespace"},
		"DuplicateTenantID: a namespace's name": {changes: []change{all(entries(7), namespace)}, want: duplicate, message: `There is a namespace "acme"`},
		"DuplicateTenantID: its figures go":     {changes: []change{all(entries(7), quota(8)), rival("aaa", "z")}, want: duplicate},
		"DuplicateTenantID: it ends":            {changes: []change{all(entries(7), rival("aaa", "z")), alone}, entries: ptr.To[int64](7), want: observed("False/NoQuota")},
		"DuplicateTenantID: it ends unobserved": {changes: []change{all(entries(7), rival("aaa", "z")), all(alone, unread)}, want: map[string]string{}},
		"DuplicateTenantID: without the index":  {changes: []change{all(unread, rival("aaa", "z"))}, want: duplicate},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tenant := claim("team-a", "tenant")
			facts := TenantFacts{Now: start, Tenant: &tenant, Claims: []v1alpha1.CacheTenant{*tenant.DeepCopy()}}
			for _, change := range tc.changes {
				change(&facts)
				tenant.Status = judgedTenant(t, facts)
			}
			if diff := cmp.Diff(tc.entries, tenant.Status.IndexEntries); diff != "" {
				t.Errorf("indexEntries (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.want, conditions(tenant.Status.Conditions)); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			if len(tenant.Status.Conditions) > 0 && !strings.Contains(tenant.Status.Conditions[0].Message, tc.message) {
				t.Errorf("message %q does not contain %q", tenant.Status.Conditions[0].Message, tc.message)
			}
			if tenant.Status.ObservedGeneration != 2 {
				t.Errorf("observedGeneration is %d, want 2", tenant.Status.ObservedGeneration)
			}
		})
	}
}

func all(changes ...func(*TenantFacts)) func(*TenantFacts) {
	return func(f *TenantFacts) {
		for _, change := range changes {
			change(f)
		}
	}
}

func TestJudgePolicy(t *testing.T) {
	tests := map[string]struct {
		names []string
		want  string
	}{
		"Observed: the only one":             {names: []string{"m"}, want: "True/Observed"},
		"Observed: the first by name":        {names: []string{"z", "m"}, want: "True/Observed"},
		"Observed: the cache is behind":      {want: "True/Observed"},
		"NotEffective: another comes before": {names: []string{"m", "a"}, want: "False/NotEffective"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			facts := PolicyFacts{Now: start, Policy: &v1alpha1.CachePolicy{ObjectMeta: metav1.ObjectMeta{Name: "m", Generation: 5}}}
			for _, name := range tc.names {
				facts.Policies = append(facts.Policies, v1alpha1.CachePolicy{ObjectMeta: metav1.ObjectMeta{Name: name}})
			}
			status := JudgePolicy(facts)
			if diff := cmp.Diff(map[string]string{v1alpha1.ConditionReady: tc.want}, conditions(status.Conditions)); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			holdConditions(t, status.Conditions, 5)
			facts.Policy.Status, facts.Now = status, start.Add(time.Hour)
			if diff := cmp.Diff(status, JudgePolicy(facts)); diff != "" {
				t.Errorf("judging again changed the status (-first +second):\n%s", diff)
			}
		})
	}
}
