/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

// validateLMCache holds the block lmCache to its bounds and to the type of the
// backend.
func validateLMCache(spec *inferencecache.CacheBackendSpec, path *field.Path) field.ErrorList {
	config, at := spec.LMCache, path.Child("lmCache")
	if config == nil {
		return nil
	}
	var errs field.ErrorList
	if spec.Type != inferencecache.CacheBackendTypeLMCache {
		errs = append(errs, field.Forbidden(at, "only allowed with type LMCache; remove it or change spec.type"))
	}
	errs = append(errs, validateAtLeast(config.ChunkSizeTokens, 1, at.Child("chunkSizeTokens"))...)
	errs = append(errs, validateImage(config.WorkerImage, at.Child("workerImage"))...)
	errs = append(errs, validateBetween(config.WorkerPort, 1, 65535, at.Child("workerPort"))...)
	if memory := config.HostMemory; memory != nil && memory.Capacity != nil && memory.Capacity.Sign() <= 0 {
		errs = append(errs, field.Invalid(at.Child("hostMemory", "capacity"), memory.Capacity.String(),
			"must be greater than zero; leave it out for the default of the runtime"))
	}
	return errs
}
