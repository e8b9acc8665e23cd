/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachetenant

import (
	"context"
	"fmt"

	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

// Namespaces knows which namespaces there are. It is safe for concurrent use.
type Namespaces interface {
	// NamespaceExists reports whether there is a namespace of that name now. An
	// answer from a cache will not do.
	NamespaceExists(ctx context.Context, name string) (bool, error)
}

// validateForeignNamespace refuses a tenantID that is the name of another
// namespace. A namespace without a CacheTenant is a tenant by its own name, so
// that claim would take over its reports and lookups.
//
// Namespaces are not in our storage, so this cannot be part of the write as
// uniqueness is: a namespace that is made after the check is not seen by it.
func validateForeignNamespace(ctx context.Context, namespaces Namespaces, tenant *inferencecache.CacheTenant) field.ErrorList {
	id := tenant.Spec.TenantID
	if id == tenant.Namespace || len(utilvalidation.IsDNS1123Label(id)) > 0 {
		return nil
	}
	exists, err := namespaces.NamespaceExists(ctx, id)
	switch {
	case err != nil:
		return field.ErrorList{field.InternalError(tenantIDPath, fmt.Errorf("look for a namespace of that name: %w", err))}
	case exists:
		return field.ErrorList{field.Invalid(tenantIDPath, id, fmt.Sprintf(
			"is the name of another namespace; choose another tenantID, or create the CacheTenant in namespace %q", id))}
	default:
		return nil
	}
}
