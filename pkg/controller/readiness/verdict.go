/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package readiness

import (
	"time"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// Verdict is what follows from Facts.
type Verdict struct {
	// Status replaces the status of the backend. It shares no memory with the facts.
	Status v1alpha1.CacheBackendStatus
	// Events are due on the backend, in this order. Each belongs to a change between
	// the status before and Status, so none is due when the two are equal.
	Events []Event
	// RequeueAfter is when to judge again if nothing happens before. Always greater
	// than zero.
	RequeueAfter time.Duration
}

// Event is a Kubernetes Event on the backend.
type Event struct {
	// Type is corev1.EventTypeNormal or corev1.EventTypeWarning.
	Type string
	// Reason is one of the constants of this package.
	Reason string
	// Message says what happened and, in a warning, what to do.
	Message string
}

// Reasons of Events that are not also reasons of a condition. The others are
// v1alpha1.ReasonAwaitingFirstKVEvent, ReasonKVEventsObserved,
// ReasonNoKVEventsObserved and ReasonInjectedEngineCrashLooping.
const (
	// EventBackendDegraded warns of a store that has become unavailable.
	EventBackendDegraded = "BackendDegraded"
	// EventBackendRecovered says that a degraded backend is ready again.
	EventBackendRecovered = "BackendRecovered"
	// EventFailClosedEnabled warns that engines need the cache to serve.
	EventFailClosedEnabled = "FailClosedEnabled"
	// EventFailOpenRestored says that engines serve without the cache again.
	EventFailOpenRestored = "FailOpenRestored"
	// EventEngineSelectorUnmatched says that the selector finds no engine.
	EventEngineSelectorUnmatched = "EngineSelectorUnmatched"
)

// How soon a backend is looked at again.
const (
	// SteadyInterval is for a backend whose engines are as many as they should be.
	SteadyInterval = 30 * time.Second
	// ChurnInterval is for one whose engines are not.
	ChurnInterval = 5 * time.Second
)
