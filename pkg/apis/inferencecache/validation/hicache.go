/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

var (
	hiCacheWritePolicies = []inferencecache.HiCacheWritePolicy{
		inferencecache.HiCacheWriteBack, inferencecache.HiCacheWriteThrough, inferencecache.HiCacheWriteThroughSelective,
	}

	hiCacheIOBackends = []inferencecache.HiCacheIOBackend{
		inferencecache.HiCacheIODirect, inferencecache.HiCacheIOKernel, inferencecache.HiCacheIOKernelAscend,
	}

	hiCacheMemoryLayouts = []inferencecache.HiCacheMemoryLayout{
		inferencecache.HiCacheLayerFirst, inferencecache.HiCachePageFirst, inferencecache.HiCachePageFirstDirect,
		inferencecache.HiCachePageFirstKVSplit, inferencecache.HiCachePageHead,
	}
)

// validateHiCache holds the block hiCache to the type of the backend: each needs
// the other.
func validateHiCache(spec *inferencecache.CacheBackendSpec, path *field.Path) field.ErrorList {
	at := path.Child("hiCache")
	wanted := spec.Type == inferencecache.CacheBackendTypeSGLangHiCache
	switch {
	case spec.HiCache == nil && wanted:
		return field.ErrorList{field.Required(at, "type SGLangHiCache needs it; set hiCache.sizeGB or hiCache.ratio")}
	case spec.HiCache == nil:
		return nil
	}
	var errs field.ErrorList
	if !wanted {
		errs = append(errs, field.Forbidden(at, "only allowed with type SGLangHiCache; remove it or change spec.type"))
	}
	return append(errs, validateHiCacheConfig(spec.HiCache, at)...)
}

func validateHiCacheConfig(config *inferencecache.HiCacheConfig, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case config.SizeGB == nil && config.Ratio == "":
		errs = append(errs, field.Required(path, "set exactly one of sizeGB and ratio"))
	case config.SizeGB != nil && config.Ratio != "":
		errs = append(errs, field.Forbidden(path.Child("ratio"), "exactly one of sizeGB and ratio may be set; remove one of them"))
	}
	errs = append(errs, validateAtLeast(config.SizeGB, 1, path.Child("sizeGB"))...)
	if config.Ratio != "" {
		if ratio, ok := parseDecimal(config.Ratio); !ok || ratio <= 0 {
			errs = append(errs, field.Invalid(path.Child("ratio"), config.Ratio, `must be a finite number greater than zero, such as "2.0"`))
		}
	}
	errs = append(errs, validateOptionalEnum(config.WritePolicy, hiCacheWritePolicies, path.Child("writePolicy"))...)
	errs = append(errs, validateOptionalEnum(config.IOBackend, hiCacheIOBackends, path.Child("ioBackend"))...)
	return append(errs, validateOptionalEnum(config.MemoryLayout, hiCacheMemoryLayouts, path.Child("memoryLayout"))...)
}
