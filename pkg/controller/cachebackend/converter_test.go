/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	applyconfigurations "k8s.io/client-go/applyconfigurations"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// converter knows the schemas by which the fake merges what is applied. Our own
// kinds have none here, nor has what the cluster need not have. Of a NetworkPolicy it must not use that of the cluster: the
// fake reads the object that is there without it, and then cannot merge the two.
type converter struct{ known, deduced managedfields.TypeConverter }

func newConverter(scheme *runtime.Scheme) converter {
	return converter{known: applyconfigurations.NewTypeConverter(scheme), deduced: managedfields.NewDeducedTypeConverter()}
}

// ObjectToTyped implements managedfields.TypeConverter.
func (c converter) ObjectToTyped(object runtime.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	gvk := object.GetObjectKind().GroupVersionKind()
	if gvk.Kind == "NetworkPolicy" || gvk.Group == v1alpha1.GroupName || gvk.Kind == kindLeaderWorkerSet {
		return c.deduced.ObjectToTyped(object, options...)
	}
	return c.known.ObjectToTyped(object, options...)
}

// TypedToObject implements managedfields.TypeConverter.
func (c converter) TypedToObject(value *typed.TypedValue) (runtime.Object, error) {
	return c.deduced.TypedToObject(value)
}
