/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachetenant

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/registry/reservation"
)

// tenantIDPath is the field that is unique.
var tenantIDPath = field.NewPath("spec", "tenantID")

// oneOwner says that a tenantID belongs to one CacheTenant of all namespaces:
// reports and lookups name nothing else. The error names the other object only to
// those who could list it, which a writer elsewhere may not.
func oneOwner() *reservation.Rule {
	return &reservation.Rule{
		Kind:  inferencecache.Kind("CacheTenant"),
		Name:  "tenantID",
		Value: func(obj runtime.Object) string { return obj.(*inferencecache.CacheTenant).Spec.TenantID },
		Duplicate: func(tenantID string, object, owner types.NamespacedName) *field.Error {
			err := field.Duplicate(tenantIDPath, tenantID)
			if owner.Namespace == object.Namespace {
				err.Detail = fmt.Sprintf("CacheTenant %q of this namespace has it; change or delete that one, or choose another tenantID", owner.Name)
			} else {
				err.Detail = "a CacheTenant in another namespace has it; choose another tenantID, or ask who may list the cachetenants of all namespaces to find its owner"
			}
			return err
		},
	}
}
