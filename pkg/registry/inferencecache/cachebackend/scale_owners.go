/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// fieldOwners translates managed fields between a CacheBackend and its scale.
func fieldOwners(backend *inferencecache.CacheBackend) *managedfields.ScaleHandler {
	return managedfields.NewScaleHandler(backend.ManagedFields, v1alpha1.SchemeGroupVersion, managedfields.ResourcePathMappings{
		v1alpha1.SchemeGroupVersion.String(): fieldpath.MakePathOrDie("spec", "replicas"),
	})
}

// ownersAfterScale returns the managed fields of backend after a write of its
// scale.
//
// The handler does not recognise an updater that keeps spec.replicas, because
// its entry in the scale names another API version: it returns the fields of
// that manager as two entries with one identity. The next write would read only
// one of them, and the manager would lose the rest, so they are joined here.
func ownersAfterScale(backend *inferencecache.CacheBackend, scaleOwners []metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, error) {
	entries, err := fieldOwners(backend).ToParent(scaleOwners)
	if err != nil {
		return nil, err
	}
	type identity struct {
		manager, version, subresource string
		operation                     metav1.ManagedFieldsOperationType
	}
	joined := make([]metav1.ManagedFieldsEntry, 0, len(entries))
	positions := make(map[identity]int, len(entries))
	for _, entry := range entries {
		id := identity{entry.Manager, entry.APIVersion, entry.Subresource, entry.Operation}
		first, known := positions[id]
		if !known {
			positions[id] = len(joined)
			joined = append(joined, entry)
			continue
		}
		if joined[first].FieldsV1, err = union(joined[first].FieldsV1, entry.FieldsV1); err != nil {
			return nil, fmt.Errorf("joining the fields of %q: %w", entry.Manager, err)
		}
	}
	return joined, nil
}

// union returns the fields that are in a or in b.
func union(a, b *metav1.FieldsV1) (*metav1.FieldsV1, error) {
	all := fieldpath.NewSet()
	for _, fields := range []*metav1.FieldsV1{a, b} {
		set := fieldpath.NewSet()
		if err := set.FromJSON(fields.GetRawReader()); err != nil {
			return nil, err
		}
		all = all.Union(set)
	}
	raw, err := all.ToJSON()
	if err != nil {
		return nil, err
	}
	return metav1.NewFieldsV1(string(raw)), nil
}
