/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachepolicy

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/registry/reservation"
)

// onePerNamespace says that a namespace has one CachePolicy: a lookup finds it by
// the namespace, and two would have to be merged or guessed between. Whoever may
// create one there may know the name of the other.
func onePerNamespace() *reservation.Rule {
	return &reservation.Rule{
		Kind:  inferencecache.Kind("CachePolicy"),
		Name:  "namespace",
		Value: func(obj runtime.Object) string { return obj.(*inferencecache.CachePolicy).Namespace },
		Duplicate: func(namespace string, _, owner types.NamespacedName) *field.Error {
			err := field.Duplicate(field.NewPath("metadata", "namespace"), namespace)
			err.Detail = fmt.Sprintf("a namespace has at most one CachePolicy, and this one has %q; change that one, or delete it first", owner.Name)
			return err
		},
	}
}
