/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
)

// addFieldLabelConversions makes fields selectable. Without an entry here a
// field selector is refused, whatever the registry can match.
func addFieldLabelConversions(scheme *runtime.Scheme) error {
	return scheme.AddFieldLabelConversionFunc(
		SchemeGroupVersion.WithKind("CacheBackend"),
		func(label, value string) (string, string, error) {
			switch label {
			case "metadata.name", "metadata.namespace", "spec.type", "spec.runtime":
				return label, value, nil
			default:
				return "", "", fmt.Errorf("field label %q is not selectable on CacheBackend; use metadata.name, metadata.namespace, spec.type or spec.runtime", label)
			}
		},
	)
}
