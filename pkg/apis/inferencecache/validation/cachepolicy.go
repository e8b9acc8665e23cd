/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"regexp"

	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

var (
	evictionPolicies = []inferencecache.EvictionPolicy{inferencecache.EvictionLRU, inferencecache.EvictionLFU}

	affinityRoutings = []inferencecache.AffinityRouting{
		inferencecache.AffinityRoutingEnabled, inferencecache.AffinityRoutingDisabled,
	}

	// floorScore bounds a score to what every reader of the field can hold and
	// compare without rounding: eight digits before the point, six after it.
	floorScore = regexp.MustCompile(`^(0|[1-9][0-9]{0,7})(\.[0-9]{1,6})?$`)
)

// ValidateCachePolicy returns every violation in a CachePolicy that is to be
// created.
func ValidateCachePolicy(policy *inferencecache.CachePolicy) field.ErrorList {
	errs := apimachineryvalidation.ValidateObjectMeta(&policy.ObjectMeta, true,
		apimachineryvalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
	return append(errs, validateCachePolicySpec(&policy.Spec, field.NewPath("spec"))...)
}

// ValidateCachePolicyUpdate returns the violations that an update brings into a
// CachePolicy.
func ValidateCachePolicyUpdate(updated, stored *inferencecache.CachePolicy) field.ErrorList {
	errs := apimachineryvalidation.ValidateObjectMetaUpdate(&updated.ObjectMeta, &stored.ObjectMeta, field.NewPath("metadata"))
	spec := field.NewPath("spec")
	return append(errs, introduced(
		validateCachePolicySpec(&updated.Spec, spec),
		validateCachePolicySpec(&stored.Spec, spec))...)
}

// ValidateCachePolicyStatusUpdate returns the violations that a write to the
// status brings into a CachePolicy.
func ValidateCachePolicyStatusUpdate(updated, stored *inferencecache.CachePolicy) field.ErrorList {
	errs := apimachineryvalidation.ValidateObjectMetaUpdate(&updated.ObjectMeta, &stored.ObjectMeta, field.NewPath("metadata"))
	status := field.NewPath("status")
	return append(errs, introduced(
		validateCachePolicyStatus(&updated.Status, status),
		validateCachePolicyStatus(&stored.Status, status))...)
}

func validateCachePolicySpec(spec *inferencecache.CachePolicySpec, path *field.Path) field.ErrorList {
	errs := validateEnum(spec.Eviction, evictionPolicies, path.Child("eviction"))
	if ttl := spec.EvictionTTL; ttl != nil && ttl.Duration <= 0 {
		errs = append(errs, field.Invalid(path.Child("evictionTTL"), ttl.Duration.String(),
			"must be greater than zero; leave it out to keep entries as long as their engine's session"))
	}
	errs = append(errs, validateAtLeast(spec.MinimumPrefixTokens, 0, path.Child("minimumPrefixTokens"))...)
	errs = append(errs, validateAtLeast(spec.MinimumMatchedTokens, 0, path.Child("minimumMatchedTokens"))...)
	if score := spec.RoutingFloorScore; score != nil && !floorScore.MatchString(*score) {
		errs = append(errs, field.Invalid(path.Child("routingFloorScore"), *score,
			`must be a decimal such as "2.5", with at most 8 digits before the point and 6 after it`))
	}
	errs = append(errs, validateAtLeast(spec.LookupTimeoutMs, 0, path.Child("lookupTimeoutMs"))...)
	if spec.AffinityRouting != nil {
		errs = append(errs, validateEnum(*spec.AffinityRouting, affinityRoutings, path.Child("affinityRouting"))...)
	}
	errs = append(errs, validateLookupStrategy(spec.Strategy, path.Child("strategy"))...)
	return append(errs, validateCostModel(spec.CostModel, path.Child("costModel"))...)
}

// validateLookupStrategy refuses a strategy that would answer no lookup at all:
// one that insists on what it does not accept.
func validateLookupStrategy(strategy *inferencecache.LookupStrategy, path *field.Path) field.ErrorList {
	if strategy == nil || !ptr.Deref(strategy.RequireChain, false) || ptr.Deref(strategy.EnableChainMatching, true) {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("requireChain"), true,
		"needs enableChainMatching; set enableChainMatching to true or requireChain to false")}
}

func validateCachePolicyStatus(status *inferencecache.CachePolicyStatus, path *field.Path) field.ErrorList {
	errs := validateAtLeast(&status.ObservedGeneration, 0, path.Child("observedGeneration"))
	return append(errs, metav1validation.ValidateConditions(status.Conditions, path.Child("conditions"))...)
}
