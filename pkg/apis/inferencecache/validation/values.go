/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateEnum refuses a value outside supported. A field that is defaulted is
// never empty by the time it is validated, so an empty one is missing.
func validateEnum[T ~string](value T, supported []T, path *field.Path) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(path, "set it to one of "+join(supported))}
	}
	return validateOptionalEnum(value, supported, path)
}

// validateOptionalEnum is validateEnum for a field that may stay empty.
func validateOptionalEnum[T ~string](value T, supported []T, path *field.Path) field.ErrorList {
	if value == "" || slices.Contains(supported, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, value, supported)}
}

func join[T ~string](values []T) string {
	quoted := make([]string, len(values))
	for i, value := range values {
		quoted[i] = fmt.Sprintf("%q", string(value))
	}
	return strings.Join(quoted, ", ")
}

// validateAtLeast refuses a number below least. Absent is left to the caller.
func validateAtLeast[T cmp.Ordered](value *T, least T, path *field.Path) field.ErrorList {
	if value == nil || *value >= least {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *value, fmt.Sprintf("must be at least %v", least))}
}

// validateBetween refuses a number outside least to most, both included.
func validateBetween[T cmp.Ordered](value *T, least, most T, path *field.Path) field.ErrorList {
	if value == nil || (*value >= least && *value <= most) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *value, fmt.Sprintf("must be from %v to %v", least, most))}
}

// validateDistinct refuses the second appearance of a key. Lists that merge by
// key cannot hold two entries under one: the next apply would lose one of them.
func validateDistinct[T any, K comparable](items []T, key func(T) K, path *field.Path, child ...string) field.ErrorList {
	var errs field.ErrorList
	seen := make(map[K]struct{}, len(items))
	for i, item := range items {
		k := key(item)
		if _, twice := seen[k]; twice {
			at := path.Index(i)
			for _, name := range child {
				at = at.Child(name)
			}
			errs = append(errs, field.Duplicate(at, k))
		}
		seen[k] = struct{}{}
	}
	return errs
}
