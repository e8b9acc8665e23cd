/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachetenant

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

// fakeNamespaces are the namespaces that there are. Asking for one fails with its
// error.
type fakeNamespaces map[string]error

func (f fakeNamespaces) NamespaceExists(_ context.Context, name string) (bool, error) {
	err, ok := f[name]
	return ok && err == nil, err
}

func withTenantID(id string) func(*inferencecache.CacheTenant) {
	return func(c *inferencecache.CacheTenant) { c.Spec.TenantID = id }
}

func TestTenantIDIsNoOtherNamespace(t *testing.T) {
	strategy := newStrategy(runtime.NewScheme(), fakeNamespaces{
		"ns": nil, "team-b": nil, "unknown": errors.New("the cluster does not answer"),
		// Names that no namespace can have must not be asked for.
		"Team A/ü": errors.New("asked for an impossible name"),
	})
	taken := []string{`spec.tenantID: Invalid value: "team-b": is the name of another namespace; choose another tenantID, or create the CacheTenant in namespace "team-b"`}
	tests := map[string]struct {
		id, old string
		want    []string
	}{
		"no namespace":                       {id: "acme"},
		"own namespace":                      {id: "ns"},
		"no possible namespace":              {id: "Team A/ü"},
		"another namespace":                  {id: "team-b", want: taken},
		"change to no namespace":             {id: "acme", old: "umbrella"},
		"change to another namespace":        {id: "team-b", old: "acme", want: taken},
		"edit after a namespace was created": {id: "team-b", old: "team-b"},
		"cluster does not answer": {
			id:   "unknown",
			want: []string{"spec.tenantID: Internal error: look for a namespace of that name: the cluster does not answer"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			obj := testTenant(withTenantID(test.id))
			errs := strategy.Validate(t.Context(), obj)
			if test.old != "" {
				errs = strategy.ValidateUpdate(t.Context(), obj, testTenant(withTenantID(test.old)))
			}
			var got []string
			for _, err := range errs {
				got = append(got, err.Error())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}
