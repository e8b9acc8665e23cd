/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"inferencecache.io/inference-cache/pkg/adapters/workload"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// controllerField finds the objects that a backend controls in the cache.
const controllerField = "metadata.controller"

// indexController is the index behind controllerField.
func indexController(object client.Object) []string {
	if owner := metav1.GetControllerOf(object); owner != nil {
		return []string{string(owner.UID)}
	}
	return nil
}

// prune deletes what a backend controls and does not want any more. It looks at
// the cache only.
func (a *applier) prune(ctx context.Context, owner *v1alpha1.CacheBackend, wanted []workload.Object) error {
	keep := map[memoKey]bool{}
	for _, object := range wanted {
		gvk, err := apiutil.GVKForObject(object, a.scheme)
		if err != nil {
			return err
		}
		keep[memoKey{kind: gvk.Kind, name: object.GetName()}] = true
	}
	var failures []error
	for _, list := range ownedLists() {
		err := a.cached.List(ctx, list, client.InNamespace(owner.Namespace), client.MatchingFields{controllerField: string(owner.UID)})
		if err != nil {
			failures = append(failures, err)
			continue
		}
		failures = append(failures, meta.EachListItem(list, func(item runtime.Object) error {
			object := item.(client.Object)
			gvk, err := apiutil.GVKForObject(object, a.scheme)
			if err != nil || keep[memoKey{kind: gvk.Kind, name: object.GetName()}] || object.GetDeletionTimestamp() != nil {
				return err
			}
			return a.delete(ctx, object)
		}))
	}
	return errors.Join(failures...)
}
