/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// IsolationMode says how a tenant is kept apart from others.
// +enum
type IsolationMode string

// IsolationModeFairness keeps tenants apart by scope and quota. Keys per tenant
// are reserved for a later version.
const IsolationModeFairness IsolationMode = "Fairness"

// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CacheTenant gives a namespace an identity in lookups that is not its name,
// and bounds its share of the index. A tenantID belongs to one CacheTenant in
// the cluster.
type CacheTenant struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the wanted identity and quota.
	Spec CacheTenantSpec `json:"spec"`
	// status is what was observed of the tenant.
	// +optional
	Status CacheTenantStatus `json:"status,omitempty"`
}

// CacheTenantSpec is the identity and the quota of a tenant.
type CacheTenantSpec struct {
	// tenantID is the tenant that lookups and reports name. At least one
	// character; inferencecache.io/probe is reserved.
	TenantID string `json:"tenantID"`

	// quota bounds the tenant's share of the index.
	// +optional
	Quota *CacheTenantQuota `json:"quota,omitempty"`

	// isolationMode says how the tenant is kept apart: Fairness. Defaults to
	// Fairness.
	// +optional
	IsolationMode IsolationMode `json:"isolationMode,omitempty"`

	// crypto is reserved for keys per tenant and must be empty.
	// +optional
	Crypto *CacheTenantCrypto `json:"crypto,omitempty"`
}

// CacheTenantQuota bounds a tenant's share of the index.
type CacheTenantQuota struct {
	// maxIndexEntries is the greatest number of distinct prefixes that the index
	// keeps for the tenant. Zero admits nothing; absent sets no bound.
	// +optional
	MaxIndexEntries *int64 `json:"maxIndexEntries,omitempty"`
}

// CacheTenantCrypto is a placeholder without fields.
type CacheTenantCrypto struct{}

// CacheTenantStatus is what was observed of a tenant.
type CacheTenantStatus struct {
	// indexEntries is the number of distinct prefixes that the index keeps for
	// the tenant. Absent until it was first observed.
	// +optional
	IndexEntries *int64 `json:"indexEntries,omitempty"`

	// observedGeneration is the metadata.generation that was last taken into use.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// conditions are the latest observations of the tenant's state: Ready and
	// QuotaExceeded.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +patchStrategy=merge
	// +patchMergeKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CacheTenantList is a list of CacheTenants.
type CacheTenantList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the CacheTenants.
	Items []CacheTenant `json:"items"`
}
