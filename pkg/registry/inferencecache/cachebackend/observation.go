/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/validation"
	"inferencecache.io/inference-cache/pkg/registry/virtual"
)

// observationLimit bounds the replicas of one observation. A replica takes about
// half a kilobyte, so the largest answer stays within a few megabytes.
var observationLimit = virtual.Limit{Default: 500, Max: 5000}

// ObservationREST is the virtual subresource observation.
type ObservationREST struct {
	rest.TableConvertor
	parent   virtual.Parent
	observer Observer
}

var (
	_ rest.GetterWithOptions = (*ObservationREST)(nil)
	_ rest.TableConvertor    = (*ObservationREST)(nil)
)

// New implements rest.Storage.
func (*ObservationREST) New() runtime.Object {
	return &inferencecache.CacheBackendObservation{}
}

// Destroy implements rest.Storage. There is nothing to release.
func (*ObservationREST) Destroy() {}

// NewGetOptions implements rest.GetterWithOptions.
func (*ObservationREST) NewGetOptions() (runtime.Object, bool, string) {
	return &inferencecache.CacheBackendObservationOptions{}, false, ""
}

// Get returns what the live index knows of the CacheBackend.
func (r *ObservationREST) Get(ctx context.Context, name string, options runtime.Object) (runtime.Object, error) {
	asked, ok := options.(*inferencecache.CacheBackendObservationOptions)
	if !ok {
		return nil, fmt.Errorf("reading an observation: unexpected options %T", options)
	}
	if err := badQuery(validation.ValidateCacheBackendObservationOptions(asked)); err != nil {
		return nil, err
	}
	limit, err := observationLimit.Resolve(ctx, asked.Limit)
	if err != nil {
		return nil, err
	}
	parent, err := r.parent.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	resolved := *asked
	resolved.Limit = limit
	backend := types.NamespacedName{Namespace: parent.GetNamespace(), Name: parent.GetName()}
	observation, err := r.observer.Observe(ctx, backend, parent.GetUID(), &resolved)
	if err != nil {
		return nil, virtual.APIError(err)
	}
	observation.ObjectMeta = virtual.Meta(parent)
	if total := int64(len(observation.Replicas)); total > limit {
		observation.Replicas = observation.Replicas[:limit]
		warning.AddWarning(ctx, "", fmt.Sprintf("replicas: showing the first %d of %d", limit, total))
	}
	return observation, nil
}

// observationRow is a line of the printed observation: one engine rank, or nil
// for a backend that has none.
type observationRow struct {
	replica *inferencecache.ObservedReplica
}

// observationRef is what a client gets with each row when it asks for objects.
func observationRef(o *inferencecache.CacheBackendObservation) runtime.Object {
	return &inferencecache.CacheBackendObservation{ObjectMeta: metav1.ObjectMeta{Name: o.Name, Namespace: o.Namespace, UID: o.UID}}
}

// observationRows returns a row per engine rank. A backend without engines has
// one row all the same, as an empty table reads as if there were no backend.
func observationRows(o *inferencecache.CacheBackendObservation) []observationRow {
	if len(o.Replicas) == 0 {
		return []observationRow{{}}
	}
	rows := make([]observationRow, 0, len(o.Replicas))
	for i := range o.Replicas {
		rows = append(rows, observationRow{replica: &o.Replicas[i]})
	}
	return rows
}
