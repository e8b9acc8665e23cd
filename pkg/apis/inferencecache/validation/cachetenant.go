/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

var isolationModes = []inferencecache.IsolationMode{inferencecache.IsolationModeFairness}

// maxTenantIDLength bounds a tenant as Kubernetes bounds a name: it becomes part
// of keys and of metric labels.
const maxTenantIDLength = 253

// ValidateCacheTenant returns every violation in a CacheTenant that is to be
// created. That no other CacheTenant claims the same tenantID is decided by the
// storage, which alone sees both.
func ValidateCacheTenant(tenant *inferencecache.CacheTenant) field.ErrorList {
	errs := apimachineryvalidation.ValidateObjectMeta(&tenant.ObjectMeta, true,
		apimachineryvalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	return append(errs, validateCacheTenantSpec(&tenant.Spec, field.NewPath("spec"))...)
}

// ValidateCacheTenantUpdate returns the violations that an update brings into a
// CacheTenant.
func ValidateCacheTenantUpdate(updated, stored *inferencecache.CacheTenant) field.ErrorList {
	errs := apimachineryvalidation.ValidateObjectMetaUpdate(&updated.ObjectMeta, &stored.ObjectMeta, field.NewPath("metadata"))
	spec := field.NewPath("spec")
	return append(errs, introduced(
		validateCacheTenantSpec(&updated.Spec, spec),
		validateCacheTenantSpec(&stored.Spec, spec))...)
}

// ValidateCacheTenantStatusUpdate returns the violations that a write to the
// status brings into a CacheTenant.
func ValidateCacheTenantStatusUpdate(updated, stored *inferencecache.CacheTenant) field.ErrorList {
	errs := apimachineryvalidation.ValidateObjectMetaUpdate(&updated.ObjectMeta, &stored.ObjectMeta, field.NewPath("metadata"))
	status := field.NewPath("status")
	return append(errs, introduced(
		validateCacheTenantStatus(&updated.Status, status),
		validateCacheTenantStatus(&stored.Status, status))...)
}

func validateCacheTenantSpec(spec *inferencecache.CacheTenantSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch id, at := spec.TenantID, path.Child("tenantID"); {
	case id == "":
		errs = append(errs, field.Required(at, "set it to the tenant that lookups name"))
	case id == inferencecache.ProbeTenantID:
		errs = append(errs, field.Invalid(at, id, "is reserved for functional probes; choose another"))
	case len(id) > maxTenantIDLength:
		errs = append(errs, field.TooLong(at, id, maxTenantIDLength))
	}
	if spec.Quota != nil {
		errs = append(errs, validateAtLeast(spec.Quota.MaxIndexEntries, 0, path.Child("quota", "maxIndexEntries"))...)
	}
	return append(errs, validateEnum(spec.IsolationMode, isolationModes, path.Child("isolationMode"))...)
}

func validateCacheTenantStatus(status *inferencecache.CacheTenantStatus, path *field.Path) field.ErrorList {
	errs := validateAtLeast(status.IndexEntries, 0, path.Child("indexEntries"))
	errs = append(errs, validateAtLeast(&status.ObservedGeneration, 0, path.Child("observedGeneration"))...)
	return append(errs, metav1validation.ValidateConditions(status.Conditions, path.Child("conditions"))...)
}
