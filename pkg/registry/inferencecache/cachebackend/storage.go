/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"fmt"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/utils/clock"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/validation"
	"inferencecache.io/inference-cache/pkg/registry/stored"
	"inferencecache.io/inference-cache/pkg/registry/virtual"
)

// Storage holds the REST storage of cachebackends and its subresources.
type Storage struct {
	// CacheBackend is the main resource.
	CacheBackend *stored.REST
	// Status is the subresource status.
	Status *stored.StatusREST
	// Scale is the subresource scale.
	Scale *ScaleREST
	// Observation is the virtual subresource observation.
	Observation *ObservationREST
	// Snapshot is the virtual subresource snapshot.
	Snapshot *SnapshotREST
	// Probe is the virtual subresource probe.
	Probe *ProbeREST
}

// NewStorage returns the storage of cachebackends. adapters say what a
// CacheBackend may ask for.
func NewStorage(scheme runtime.ObjectTyper, optsGetter generic.RESTOptionsGetter, clock clock.PassiveClock,
	adapters validation.Adapters, observer Observer, snapshots SnapshotLister, prober Prober) (*Storage, error) {
	strategy := newStrategy(scheme, adapters)
	main, err := stored.New(stored.Kind{
		Resource:    inferencecache.Resource("cachebackends"),
		Singular:    inferencecache.Resource("cachebackend"),
		ShortNames:  []string{"cb"},
		NewFunc:     func() runtime.Object { return &inferencecache.CacheBackend{} },
		NewListFunc: func() runtime.Object { return &inferencecache.CacheBackendList{} },
		Strategy:    strategy,
		AttrFunc:    attributes,
		Table:       newTable(clock),
	}, optsGetter)
	if err != nil {
		return nil, err
	}
	parent := virtual.NewParent(main)
	return &Storage{
		CacheBackend: main,
		Status:       stored.NewStatus(main, newStatusStrategy(strategy)),
		Scale:        newScaleREST(main, strategy, clock),
		Observation:  &ObservationREST{parent: parent, observer: observer, TableConvertor: newObservationTable(clock)},
		Snapshot:     &SnapshotREST{parent: parent, snapshots: snapshots, TableConvertor: newSnapshotTable(clock)},
		Probe:        &ProbeREST{parent: parent, prober: prober, TableConvertor: newProbeTable(clock)},
	}, nil
}

// attributes returns the labels and the selectable fields of a CacheBackend.
// Each field needs its entry in the field label conversion of the served
// version too, or the endpoint refuses a selector that names it.
func attributes(obj runtime.Object) (labels.Set, fields.Set, error) {
	backend, ok := obj.(*inferencecache.CacheBackend)
	if !ok {
		return nil, nil, fmt.Errorf("selecting a CacheBackend: unexpected type %T", obj)
	}
	selectable := generic.ObjectMetaFieldsSet(&backend.ObjectMeta, true)
	selectable["spec.type"] = string(backend.Spec.Type)
	selectable["spec.runtime"] = string(backend.Spec.Runtime)
	return backend.Labels, selectable, nil
}
