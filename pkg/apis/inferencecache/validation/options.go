/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

var cacheTiers = []string{
	string(inferencecache.CacheTierT1), string(inferencecache.CacheTierT2), string(inferencecache.CacheTierT3),
}

// ValidateCacheBackendObservationOptions returns every violation in the query of
// an observation.
func ValidateCacheBackendObservationOptions(options *inferencecache.CacheBackendObservationOptions) field.ErrorList {
	errs := validateAtLeast(&options.Limit, 0, field.NewPath("limit"))
	errs = append(errs, validateOptionalEnum(options.Tier, cacheTiers, field.NewPath("tier"))...)
	return append(errs, validateNoWatch(options.Watch)...)
}

// ValidateCacheBackendSnapshotOptions returns every violation in the query of a
// snapshot. Whether continue can be followed is for the one who issued it to say.
func ValidateCacheBackendSnapshotOptions(options *inferencecache.CacheBackendSnapshotOptions) field.ErrorList {
	errs := validateAtLeast(&options.Limit, 0, field.NewPath("limit"))
	errs = append(errs, validateOptionalEnum(options.Tier, cacheTiers, field.NewPath("tier"))...)
	return append(errs, validateNoWatch(options.Watch)...)
}

// validateNoWatch refuses a watch of something that is read once: answering it
// with a single object would leave the client waiting for events.
func validateNoWatch(watch bool) field.ErrorList {
	if !watch {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("watch"), "cannot be watched; read it again, or watch cacheindices")}
}
