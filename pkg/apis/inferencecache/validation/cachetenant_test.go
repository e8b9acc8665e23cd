/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

func validTenant() *inferencecache.CacheTenant {
	return &inferencecache.CacheTenant{
		ObjectMeta: metav1.ObjectMeta{Name: "t", Namespace: "ns", ResourceVersion: "1"},
		Spec:       inferencecache.CacheTenantSpec{TenantID: "team-a", IsolationMode: inferencecache.IsolationModeFairness},
	}
}

func TestCacheTenant(t *testing.T) {
	tests := map[string]struct {
		change func(*inferencecache.CacheTenantSpec)
		want   []string
	}{
		"valid": {change: func(*inferencecache.CacheTenantSpec) {}},
		"quota that admits nothing": {change: func(s *inferencecache.CacheTenantSpec) {
			s.Quota = &inferencecache.CacheTenantQuota{MaxIndexEntries: ptr.To[int64](0)}
		}},
		"quota without a bound":      {change: func(s *inferencecache.CacheTenantSpec) { s.Quota = &inferencecache.CacheTenantQuota{} }},
		"empty crypto":               {change: func(s *inferencecache.CacheTenantSpec) { s.Crypto = &inferencecache.CacheTenantCrypto{} }},
		"identity of any characters": {change: func(s *inferencecache.CacheTenantSpec) { s.TenantID = "Team A/ü" }},
		"no identity": {
			change: func(s *inferencecache.CacheTenantSpec) { s.TenantID = "" },
			want:   []string{`spec.tenantID: Required value: set it to the tenant that lookups name`},
		},
		"reserved identity": {
			change: func(s *inferencecache.CacheTenantSpec) { s.TenantID = "inferencecache.io/probe" },
			want:   []string{`spec.tenantID: Invalid value: "inferencecache.io/probe": is reserved for functional probes; choose another`},
		},
		"identity without end": {
			change: func(s *inferencecache.CacheTenantSpec) { s.TenantID = strings.Repeat("a", 254) },
			want:   []string{`spec.tenantID: Too long: may not be more than 253 bytes`},
		},
		"quota below zero and unknown isolation": {
			change: func(s *inferencecache.CacheTenantSpec) {
				s.Quota = &inferencecache.CacheTenantQuota{MaxIndexEntries: ptr.To[int64](-1)}
				s.IsolationMode = "Crypto"
			},
			want: []string{
				`spec.quota.maxIndexEntries: Invalid value: -1: must be at least 0`,
				`spec.isolationMode: Unsupported value: "Crypto": supported values: "Fairness"`,
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			tenant := validTenant()
			test.change(&tenant.Spec)
			compare(t, test.want, ValidateCacheTenant(tenant))
			compare(t, test.want, ValidateCacheTenantUpdate(tenant, validTenant()))
			compare(t, nil, ValidateCacheTenantUpdate(tenant, tenant.DeepCopy()))
		})
	}
}

func TestCacheTenantStatusUpdate(t *testing.T) {
	updated := validTenant()
	updated.Spec.TenantID = ""
	updated.Status = inferencecache.CacheTenantStatus{IndexEntries: ptr.To[int64](-1)}
	compare(t, []string{`status.indexEntries: Invalid value: -1: must be at least 0`},
		ValidateCacheTenantStatusUpdate(updated, validTenant()))
}
