//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// are is nil if conditions are those that are wanted, as status and reason by type.
func are(conditions []metav1.Condition, want map[string]string) error {
	got := map[string]string{}
	for _, c := range conditions {
		got[c.Type] = string(c.Status) + "/" + c.Reason
	}
	if diff := cmp.Diff(want, got); diff != "" {
		return fmt.Errorf("conditions (-want +got):\n%s", diff)
	}
	return nil
}

// TestTenant claims a tenantID, then has a namespace of that name come to be, which
// the claim gives way to.
func TestTenant(t *testing.T) {
	c := newClients(t)
	tenants := c.ours.InferencecacheV1alpha1().CacheTenants(c.namespace)
	id := "acme-" + c.namespace
	_, err := tenants.Create(t.Context(), &v1alpha1.CacheTenant{
		ObjectMeta: metav1.ObjectMeta{Name: "acme"},
		Spec:       v1alpha1.CacheTenantSpec{TenantID: id, Quota: &v1alpha1.CacheTenantQuota{MaxIndexEntries: ptr.To[int64](100)}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	is := func(entries *int64, ready, exceeded string) func() error {
		return func() error {
			tenant, err := tenants.Get(t.Context(), "acme", metav1.GetOptions{})
			if err != nil {
				return err
			}
			if diff := cmp.Diff(entries, tenant.Status.IndexEntries); diff != "" {
				return fmt.Errorf("indexEntries (-want +got):\n%s", diff)
			}
			return are(tenant.Status.Conditions, map[string]string{v1alpha1.ConditionReady: ready, v1alpha1.ConditionQuotaExceeded: exceeded})
		}
	}
	eventually(t, is(ptr.To[int64](0), "True/Observed", "False/WithinBudget"))

	_, err = c.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: id}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, is(nil, "False/DuplicateTenantID", "False/NotEffective"))
}

// TestPolicy makes the only policy of a namespace.
func TestPolicy(t *testing.T) {
	c := newClients(t)
	policies := c.ours.InferencecacheV1alpha1().CachePolicies(c.namespace)
	if _, err := policies.Create(t.Context(), &v1alpha1.CachePolicy{ObjectMeta: metav1.ObjectMeta{Name: "lookups"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		policy, err := policies.Get(t.Context(), "lookups", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if policy.Status.ObservedGeneration != policy.Generation {
			return fmt.Errorf("observedGeneration is %d, want %d", policy.Status.ObservedGeneration, policy.Generation)
		}
		return are(policy.Status.Conditions, map[string]string{v1alpha1.ConditionReady: "True/Observed"})
	})
}
