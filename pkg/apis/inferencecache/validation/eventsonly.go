/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

// eventsOnly tells whether a backend wires routing alone.
func eventsOnly(spec *inferencecache.CacheBackendSpec) bool {
	return spec.Integration != nil && spec.Integration.Mode == inferencecache.IntegrationModeEventsOnly
}

// validateEventsOnly refuses what asks for a cache where none is wired. The block
// lmCache is let through, because it is only ignored: see the warnings.
func validateEventsOnly(spec *inferencecache.CacheBackendSpec, path *field.Path) field.ErrorList {
	if !eventsOnly(spec) {
		return nil
	}
	var errs field.ErrorList
	if slices.Contains(backendTypes, spec.Type) && spec.Type != inferencecache.CacheBackendTypeLMCache {
		errs = append(errs, field.Invalid(path.Child("type"), spec.Type,
			"integration mode EventsOnly wires no cache; set it to LMCache, or the mode to Offload"))
	}
	if spec.RemoteStorage != nil {
		errs = append(errs, field.Forbidden(path.Child("remoteStorage"),
			"integration mode EventsOnly wires no store; remove it, or set the mode to Offload"))
	}
	return errs
}
