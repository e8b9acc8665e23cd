/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// overcommittable are the resources of which a container may use more than it
// asked for. They are also the only ones without a domain.
var overcommittable = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}

// validateResources holds the resources of a managed store to what a container
// may be given.
func validateResources(resources *corev1.ResourceRequirements, path *field.Path) field.ErrorList {
	if resources == nil {
		return nil
	}
	limits, requests := path.Child("limits"), path.Child("requests")
	errs := validateResourceList(resources.Limits, limits)
	errs = append(errs, validateResourceList(resources.Requests, requests)...)
	errs = append(errs, validateRequestsAgainstLimits(resources, limits, requests)...)
	errs = append(errs, validateHugePagesCompany(resources, path)...)
	return append(errs, validateClaims(resources.Claims, path.Child("claims"))...)
}

func validateResourceList(list corev1.ResourceList, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(list)) {
		at := path.Key(string(name))
		if message := resourceNameShape(name); message != "" {
			errs = append(errs, field.Invalid(at, string(name), message))
			continue
		}
		errs = append(errs, validateResourceQuantity(name, list[name], at)...)
	}
	return errs
}

// resourceNameShape says why a container cannot be given a resource, or nothing.
func resourceNameShape(name corev1.ResourceName) string {
	text := string(name)
	if messages := utilvalidation.IsQualifiedName(text); len(messages) > 0 {
		return messages[0]
	}
	if slices.Contains(overcommittable, name) {
		return ""
	}
	if size, ok := strings.CutPrefix(text, corev1.ResourceHugePagesPrefix); ok {
		if _, ok := pageSize(size); !ok {
			return `must end in the size of a page, such as "hugepages-2Mi"; correct it`
		}
		return ""
	}
	domain, _, qualified := strings.Cut(text, "/")
	switch {
	case !qualified:
		return `must be cpu, memory, ephemeral-storage, hugepages-<size> or a name with a domain, such as "example.com/device"`
	case strings.HasSuffix(domain, "kubernetes.io"):
		return "is in a domain that Kubernetes keeps for itself; use the name that the device plugin advertises"
	case strings.HasPrefix(domain, corev1.DefaultResourceRequestsPrefix):
		return `must not begin with "requests.", which only quotas use; remove the prefix`
	case len(utilvalidation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+text)) > 0:
		return "is too long for a quota to name; shorten the domain"
	default:
		return ""
	}
}

// outsized reports whether a quantity has an exponent of more than three digits. No
// quantity needs one, and the library writes out every power of ten that is named:
// 1e-99999999 takes it minutes.
func outsized(text string) bool {
	exponent := strings.LastIndexAny(text, "eE")
	return exponent >= 0 && len(text)-exponent > len("e-999")
}

// pageSize parses the size of a huge page, a whole number of bytes.
func pageSize(text string) (int64, bool) {
	if outsized(text) {
		return 0, false
	}
	size, err := resource.ParseQuantity(text)
	if err != nil || size.Sign() <= 0 || size.MilliValue()%1000 != 0 {
		return 0, false
	}
	return size.Value(), size.Value() > 0
}

func validateResourceQuantity(name corev1.ResourceName, quantity resource.Quantity, path *field.Path) field.ErrorList {
	size, hugePages := strings.CutPrefix(string(name), corev1.ResourceHugePagesPrefix)
	switch {
	case quantity.Sign() < 0:
		return field.ErrorList{field.Invalid(path, quantity.String(), "must not be negative; set 0 for no guarantee")}
	case hugePages:
		if page, ok := pageSize(size); ok && quantity.Value()%page != 0 {
			return field.ErrorList{field.Invalid(path, quantity.String(), fmt.Sprintf("must be a whole number of pages of %s", size))}
		}
	// The remainder is taken as a cluster takes it, so that both refuse the same
	// quantities where thousandths no longer fit.
	case !slices.Contains(overcommittable, name) && quantity.MilliValue()%1000 != 0:
		return field.ErrorList{field.Invalid(path, quantity.String(), "must be a whole number, because devices are not shared")}
	}
	return nil
}

// validateRequestsAgainstLimits: what can be overcommitted is requested up to
// its limit, everything else exactly at it, and never without one.
func validateRequestsAgainstLimits(resources *corev1.ResourceRequirements, limits, requests *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(resources.Requests)) {
		request, shared := resources.Requests[name], slices.Contains(overcommittable, name)
		limit, limited := resources.Limits[name]
		switch {
		case !limited && !shared:
			errs = append(errs, field.Required(limits.Key(string(name)),
				fmt.Sprintf("cannot be overcommitted, so that the request of %s needs a limit; set it to the same", request.String())))
		case !limited:
		case !shared && request.Cmp(limit) != 0:
			errs = append(errs, field.Invalid(requests.Key(string(name)), request.String(),
				fmt.Sprintf("must equal the limit of %s, because it cannot be overcommitted", limit.String())))
		case request.Cmp(limit) > 0:
			errs = append(errs, field.Invalid(requests.Key(string(name)), request.String(),
				fmt.Sprintf("must be at most the limit of %s", limit.String())))
		}
	}
	return errs
}

// validateHugePagesCompany refuses huge pages alone: such a container would have
// no quality of service.
func validateHugePagesCompany(resources *corev1.ResourceRequirements, path *field.Path) field.ErrorList {
	hugePages := false
	for _, list := range []corev1.ResourceList{resources.Limits, resources.Requests} {
		for name := range list {
			if name == corev1.ResourceCPU || name == corev1.ResourceMemory {
				return nil
			}
			hugePages = hugePages || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
		}
	}
	if !hugePages {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, "huge pages need cpu or memory beside them; add one")}
}

// validateClaims refuses claims on devices: nothing makes the claims of the Pod
// that they refer to.
func validateClaims(claims []corev1.ResourceClaim, path *field.Path) field.ErrorList {
	if len(claims) == 0 {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, "claims on devices are not supported; remove them")}
}
