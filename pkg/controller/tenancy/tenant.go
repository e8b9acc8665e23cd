/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tenancy

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// TenantFacts is everything that the status of a CacheTenant depends on.
// JudgeTenant changes none of it.
type TenantFacts struct {
	// Now is the time of the observation.
	Now time.Time
	// Tenant is the object with the status that was last written.
	Tenant *v1alpha1.CacheTenant
	// Claims are all CacheTenants of the cluster with its tenantID, in any order.
	Claims []v1alpha1.CacheTenant
	// NamespaceExists says whether a namespace has the tenantID as its name.
	NamespaceExists bool
	// Index is the tenant's share of the live index, nil when it was not read.
	Index *TenantShare
}

// TenantShare is a tenant's share of the live index.
type TenantShare struct {
	// Complete is false while the index is being rebuilt.
	Complete bool
	// Entries is the number of distinct prefixes of the tenant, nil when the index
	// names none.
	Entries *int64
}

// JudgeTenant returns the status of a tenant.
func JudgeTenant(facts TenantFacts) v1alpha1.CacheTenantStatus {
	status := *facts.Tenant.Status.DeepCopy()
	status.ObservedGeneration = facts.Tenant.Generation
	set := setter(&status.Conditions, facts.Tenant.Generation, facts.Now)

	if why := superseded(facts); why != "" {
		// The entries under this tenantID are not this object's.
		status.IndexEntries = nil
		set(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonDuplicateTenantID, why)
		set(v1alpha1.ConditionQuotaExceeded, metav1.ConditionFalse, v1alpha1.ReasonNotEffective,
			"The quota bounds nothing, because the tenantID belongs to another")
		return status
	}
	status.IndexEntries = entriesOf(facts.Index, status.IndexEntries)
	if status.IndexEntries == nil {
		// What an earlier claim came to says nothing about this one.
		dropUnless(&status.Conditions, v1alpha1.ReasonObserved)
		return status
	}
	set(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonObserved, "The tenant's share of the live index was observed")
	judgeQuota(facts.Tenant.Spec.Quota, *status.IndexEntries, set)
	return status
}

// judgeQuota compares a tenant's entries with what it may have.
func judgeQuota(quota *v1alpha1.CacheTenantQuota, entries int64, set setCondition) {
	const exceeded = v1alpha1.ConditionQuotaExceeded
	switch {
	case quota == nil || quota.MaxIndexEntries == nil:
		set(exceeded, metav1.ConditionFalse, v1alpha1.ReasonNoQuota, "spec.quota sets no bound")
	case entries > *quota.MaxIndexEntries:
		set(exceeded, metav1.ConditionTrue, v1alpha1.ReasonOverEntryBudget, fmt.Sprintf(
			"The index keeps more than the %d entries of spec.quota.maxIndexEntries and evicts them; raise it to keep more", *quota.MaxIndexEntries))
	default:
		set(exceeded, metav1.ConditionFalse, v1alpha1.ReasonWithinBudget, fmt.Sprintf(
			"The index keeps at most the %d entries of spec.quota.maxIndexEntries", *quota.MaxIndexEntries))
	}
}

// entriesOf reads a tenant's share. An index that is being rebuilt may have lost
// entries, not the tenant.
func entriesOf(share *TenantShare, before *int64) *int64 {
	switch {
	case share == nil:
		return before
	case share.Complete:
		return ptr.To(ptr.Deref(share.Entries, 0))
	case share.Entries == nil:
		return before
	default:
		return ptr.To(max(*share.Entries, ptr.Deref(before, 0)))
	}
}

// superseded says who has the tenantID and what to do, or nothing when the tenant has
// it: a namespace of that name comes first, then the claim that is first by namespace
// and name.
func superseded(facts TenantFacts) string {
	tenant := facts.Tenant
	id := tenant.Spec.TenantID
	if facts.NamespaceExists && tenant.Namespace != id {
		return fmt.Sprintf("There is a namespace %q, whose name a tenantID may not be; choose another tenantID", id)
	}
	others := slices.DeleteFunc(slices.Clone(facts.Claims), func(c v1alpha1.CacheTenant) bool {
		return facts.NamespaceExists && c.Namespace != id
	})
	if len(others) == 0 {
		return ""
	}
	first := slices.MinFunc(others, func(a, b v1alpha1.CacheTenant) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	switch {
	case first.Namespace == tenant.Namespace && first.Name >= tenant.Name, first.Namespace > tenant.Namespace:
		return ""
	case first.Namespace == tenant.Namespace:
		return fmt.Sprintf("CacheTenant %q of this namespace has the tenantID; delete one, or choose another tenantID", first.Name)
	default:
		// Who may not look into that namespace does not learn its name here.
		return "A CacheTenant of another namespace has the tenantID; choose another one"
	}
}

// setCondition publishes a condition.
type setCondition func(conditionType string, status metav1.ConditionStatus, reason, message string)

// setter returns what sets conditions of a list for a generation. Times are whole
// seconds, as the API keeps them.
func setter(conditions *[]metav1.Condition, generation int64, now time.Time) setCondition {
	return func(conditionType string, status metav1.ConditionStatus, reason, message string) {
		meta.SetStatusCondition(conditions, metav1.Condition{
			Type: conditionType, Status: status, Reason: reason, Message: message,
			ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now.Truncate(time.Second)),
		})
	}
}

// dropUnless takes the conditions of this package back unless Ready has a reason.
func dropUnless(conditions *[]metav1.Condition, reason string) {
	ready := meta.FindStatusCondition(*conditions, v1alpha1.ConditionReady)
	if ready != nil && ready.Reason != reason {
		meta.RemoveStatusCondition(conditions, v1alpha1.ConditionReady)
		meta.RemoveStatusCondition(conditions, v1alpha1.ConditionQuotaExceeded)
	}
}
