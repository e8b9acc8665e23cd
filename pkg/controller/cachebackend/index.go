/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/controller/readiness"
)

// observeIndex reads a backend's share of the live index from the cache, nil if the
// index was not read yet.
func observeIndex(ctx context.Context, reader client.Reader, backend *v1alpha1.CacheBackend) (*readiness.Index, error) {
	index := &v1alpha1.CacheIndex{}
	if err := reader.Get(ctx, client.ObjectKey{Name: v1alpha1.CacheIndexName}, index); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	share := &readiness.Index{Complete: index.Status.Complete}
	for i := range index.Status.Backends {
		entry := &index.Status.Backends[i]
		if entry.Namespace == backend.Namespace && entry.Name == backend.Name && (entry.UID == "" || entry.UID == backend.UID) {
			share.Entry = entry.DeepCopy()
		}
	}
	return share, nil
}

// observeHostTier counts the blocks in the host tier of a backend's engines. The
// index as a whole does not tell them, so the backend itself is asked.
func observeHostTier(ctx context.Context, c client.Client, backend *v1alpha1.CacheBackend, share *readiness.Index) error {
	if share == nil || share.Entry == nil {
		return nil
	}
	observation := &v1alpha1.CacheBackendObservation{}
	if err := c.SubResource("observation").Get(ctx, backend, observation); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("read the observation of the backend: %w", err)
	}
	share.HostBlocks = ptr.To(observation.Summary.Blocks.T2)
	return nil
}

// indexHandler has those backends looked at whose share of the index has changed in
// a way that a gate may depend on: what only grows waits for the next steady look.
func indexHandler() handler.Funcs {
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			enqueueShares(queue, nil, e.Object)
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			enqueueShares(queue, e.ObjectOld, e.ObjectNew)
		},
	}
}

func enqueueShares(queue workqueue.TypedRateLimitingInterface[reconcile.Request], before, after client.Object) {
	for _, request := range changedShares(before, after) {
		queue.Add(request)
	}
}

// changedShares returns the backends whose share has changed.
func changedShares(before, after client.Object) []reconcile.Request {
	var changed []reconcile.Request
	old, now := phases(before), phases(after)
	for name, phase := range now {
		if was, known := old[name]; !known || was != phase {
			changed = append(changed, reconcile.Request{NamespacedName: name})
		}
	}
	for name := range old {
		if _, known := now[name]; !known {
			changed = append(changed, reconcile.Request{NamespacedName: name})
		}
	}
	return changed
}

// phase is what of a share changes seldom.
type phase struct {
	uid             types.UID
	empty, eventful bool
	complete        bool
}

func phases(object client.Object) map[types.NamespacedName]phase {
	index, ok := object.(*v1alpha1.CacheIndex)
	if !ok || index == nil {
		return nil
	}
	found := make(map[types.NamespacedName]phase, len(index.Status.Backends))
	for i := range index.Status.Backends {
		entry := &index.Status.Backends[i]
		found[types.NamespacedName{Namespace: entry.Namespace, Name: entry.Name}] = phase{
			uid: entry.UID, empty: entry.PrefixCount == 0, eventful: entry.LastEventAt != nil,
			complete: entry.Complete && index.Status.Complete,
		}
	}
	return found
}
