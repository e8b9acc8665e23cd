/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachetenant

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/registry/table"
)

// newTable returns what "kubectl get cachetenants" prints.
func newTable(clock clock.PassiveClock) rest.TableConvertor {
	return table.New(clock,
		table.Name[*inferencecache.CacheTenant](),
		table.Column[*inferencecache.CacheTenant]{
			Name: "Tenant", Type: "string",
			Description: "Tenant as routers and engines name it.",
			Cell:        func(t *inferencecache.CacheTenant, _ metav1.Time) any { return table.Text(t.Spec.TenantID) },
		},
		table.Column[*inferencecache.CacheTenant]{
			Name: "Entries", Type: "integer",
			Description: "Number of distinct prefixes in the index, as last recorded in the status.",
			Cell:        func(t *inferencecache.CacheTenant, _ metav1.Time) any { return table.Count(t.Status.IndexEntries) },
		},
		table.Column[*inferencecache.CacheTenant]{
			Name: "Quota", Type: "integer",
			Description: "Most distinct prefixes that the index keeps.",
			Cell: func(t *inferencecache.CacheTenant, _ metav1.Time) any {
				if t.Spec.Quota == nil {
					return table.None
				}
				return table.Count(t.Spec.Quota.MaxIndexEntries)
			},
		},
		table.Column[*inferencecache.CacheTenant]{
			Name: "Isolation", Type: "string",
			Description: "How the tenant is kept apart from others.",
			Cell:        func(t *inferencecache.CacheTenant, _ metav1.Time) any { return table.Text(t.Spec.IsolationMode) },
		},
		table.Age[*inferencecache.CacheTenant](),
		conditionColumn("Ready", "Status of the condition Ready.", v1alpha1.ConditionReady),
		conditionColumn("OverQuota", "Status of the condition QuotaExceeded.", v1alpha1.ConditionQuotaExceeded),
	)
}

// conditionColumn is a wide column with the status of a condition.
func conditionColumn(name, description, conditionType string) table.Column[*inferencecache.CacheTenant] {
	return table.Column[*inferencecache.CacheTenant]{
		Name: name, Type: "string", Wide: true, Description: description,
		Cell: func(t *inferencecache.CacheTenant, _ metav1.Time) any {
			return table.Condition(t.Status.Conditions, conditionType)
		},
	}
}
