/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// Shape is what kind of backend a spec asks for. It decides what is provisioned
// and which conditions are published.
type Shape string

// The shapes, in the order in which ShapeOf decides.
const (
	// ShapeEventsOnly wires routing alone and provisions nothing.
	ShapeEventsOnly Shape = "EventsOnly"
	// ShapeUnsupported has no adapter and is left alone.
	ShapeUnsupported Shape = "Unsupported"
	// ShapeExternal uses a store that somebody else runs.
	ShapeExternal Shape = "External"
	// ShapeHiCache uses SGLang's own hierarchical cache and no store.
	ShapeHiCache Shape = "HiCache"
	// ShapeHostOnly keeps blocks on the engine's host and has no store.
	ShapeHostOnly Shape = "HostOnly"
	// ShapeManaged runs a store.
	ShapeManaged Shape = "Managed"
)

// ShapeOf returns the shape of a backend. Supported says whether its pair of
// runtime and type has an adapter.
func ShapeOf(backend *v1alpha1.CacheBackend, supported bool) Shape {
	storage := backend.Spec.RemoteStorage
	switch {
	case !supported:
		return ShapeUnsupported
	case modeOf(backend) == v1alpha1.IntegrationModeEventsOnly:
		return ShapeEventsOnly
	case storage != nil && storage.Ownership == v1alpha1.StorageOwnershipExternal:
		return ShapeExternal
	case storage != nil:
		return ShapeManaged
	case backend.Spec.Type == v1alpha1.CacheBackendTypeSGLangHiCache:
		return ShapeHiCache
	default:
		return ShapeHostOnly
	}
}

func modeOf(backend *v1alpha1.CacheBackend) v1alpha1.IntegrationMode {
	if backend.Spec.Integration == nil {
		return v1alpha1.IntegrationModeOffload
	}
	return backend.Spec.Integration.Mode
}

// failOpenOf returns what engines do without their cache; absent means true.
func failOpenOf(backend *v1alpha1.CacheBackend) bool {
	integration := backend.Spec.Integration
	return integration == nil || integration.FailOpen == nil || *integration.FailOpen
}

// selects says whether the backend claims any Pod: an empty selector claims none.
func selects(backend *v1alpha1.CacheBackend) bool {
	selector := backend.Spec.EngineSelector
	return selector != nil && len(selector.MatchLabels) > 0
}

// gatedByEvents says whether a shape waits for its first KV event.
func (s Shape) gatedByEvents() bool {
	return s == ShapeManaged || s == ShapeHostOnly || s == ShapeEventsOnly
}

// offloads says whether engines of the shape load LMCache, whose kernels can be
// missing.
func (s Shape) offloads() bool {
	return s == ShapeManaged || s == ShapeHostOnly
}
