/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

func validateAutoscaling(scaling *inferencecache.AutoscalingSpec, path *field.Path) field.ErrorList {
	if scaling == nil {
		return nil
	}
	errs := validateAtLeast(scaling.MinReplicas, 1, path.Child("minReplicas"))
	switch most, at := scaling.MaxReplicas, path.Child("maxReplicas"); {
	case most == 0:
		errs = append(errs, field.Required(at, "set it to at least 1"))
	case most < 0:
		errs = append(errs, field.Invalid(at, most, "must be at least 1"))
	case scaling.MinReplicas != nil && *scaling.MinReplicas > most:
		errs = append(errs, field.Invalid(at, most, fmt.Sprintf("must be at least minReplicas, which is %d", *scaling.MinReplicas)))
	}
	return append(errs, validateBetween(scaling.TargetCPUUtilizationPercent, 1, 100, path.Child("targetCPUUtilizationPercent"))...)
}

// validateScaling holds replicas and autoscaling to what there is to scale. The
// most general reason against an autoscaler is the one that is given.
func validateScaling(spec *inferencecache.CacheBackendSpec, adapters Adapters, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	forbidden := func(reason string) {
		if spec.Autoscaling != nil {
			errs = append(errs, field.Forbidden(path.Child("autoscaling"), reason))
		}
	}
	store := managedStore(spec, adapters)
	switch {
	case eventsOnly(spec):
		forbidden("integration mode EventsOnly runs nothing that could be scaled; remove it")
	case spec.RemoteStorage == nil:
		forbidden("without spec.remoteStorage nothing runs that could be scaled; remove it, or add a managed store")
	case store != nil && store.Singleton:
		forbidden(fmt.Sprintf("a managed %s has exactly one replica; remove it", store.Provider))
		if replicas := ptr.Deref(spec.Replicas, 1); replicas > 1 {
			errs = append(errs, field.Invalid(path.Child("replicas"), replicas,
				fmt.Sprintf("a managed %s has exactly one replica, because each further one would be a cache of its own; set it to 1 or 0", store.Provider)))
		}
	}
	return append(errs, validateFloor(spec, path.Child("autoscaling"))...)
}

// validateFloor refuses an autoscaler over zero replicas whose floor nobody set.
// The floor would otherwise follow from the replicas; from zero it cannot, and a
// floor of one is not what was asked for.
func validateFloor(spec *inferencecache.CacheBackendSpec, path *field.Path) field.ErrorList {
	if spec.Autoscaling == nil || spec.Autoscaling.MinReplicas != nil || ptr.Deref(spec.Replicas, 1) != 0 {
		return nil
	}
	return field.ErrorList{field.Required(path.Child("minReplicas"),
		"spec.replicas is 0, which no autoscaler scales to; set minReplicas, or remove spec.autoscaling to scale to zero")}
}
