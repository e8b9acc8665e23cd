/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package inferencecache

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// IsolationMode says how a tenant is kept apart from others.
type IsolationMode string

// IsolationModeFairness keeps tenants apart by scope and quota. Keys per tenant
// are reserved for a later version.
const IsolationModeFairness IsolationMode = "Fairness"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CacheTenant gives a namespace an identity in lookups that is not its name,
// and bounds its share of the index. A tenantID belongs to one CacheTenant in
// the cluster.
type CacheTenant struct {
	metav1.TypeMeta
	// ObjectMeta is the standard object metadata.
	metav1.ObjectMeta
	// Spec is the wanted identity and quota.
	Spec CacheTenantSpec
	// Status is what was observed of the tenant.
	Status CacheTenantStatus
}

// CacheTenantSpec is the identity and the quota of a tenant.
type CacheTenantSpec struct {
	// TenantID is the tenant that lookups and reports name.
	TenantID string
	// Quota bounds the tenant's share of the index.
	Quota *CacheTenantQuota
	// IsolationMode says how the tenant is kept apart: Fairness.
	IsolationMode IsolationMode
	// Crypto is reserved for keys per tenant and must be empty.
	Crypto *CacheTenantCrypto
}

// CacheTenantQuota bounds a tenant's share of the index.
type CacheTenantQuota struct {
	// MaxIndexEntries is the greatest number of distinct prefixes that the index
	// keeps for the tenant.
	MaxIndexEntries *int64
}

// CacheTenantCrypto is a placeholder without fields.
type CacheTenantCrypto struct{}

// CacheTenantStatus is what was observed of a tenant.
type CacheTenantStatus struct {
	// IndexEntries is the number of distinct prefixes that the index keeps for the
	// tenant.
	IndexEntries *int64
	// ObservedGeneration is the metadata.generation that was last taken into use.
	ObservedGeneration int64
	// Conditions are the latest observations of the tenant's state: Ready and
	// QuotaExceeded.
	Conditions []metav1.Condition
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CacheTenantList is a list of CacheTenants.
type CacheTenantList struct {
	metav1.TypeMeta
	// ListMeta is the standard list metadata.
	metav1.ListMeta
	// Items are the CacheTenants.
	Items []CacheTenant
}
