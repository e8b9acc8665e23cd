/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

// Observer answers the subresource observation. It is called concurrently.
type Observer interface {
	// Observe returns what is known of the CacheBackend now, restricted to the
	// tier and the model of the options. It leaves the metadata to the caller,
	// which also cuts the list of replicas at the limit, and the answer belongs
	// to the caller. A backend without engines has an answer too: an empty one.
	// Errors of package virtual and API errors keep their meaning for clients.
	Observe(ctx context.Context, backend types.NamespacedName, uid types.UID,
		options *inferencecache.CacheBackendObservationOptions) (*inferencecache.CacheBackendObservation, error)
}

// Prober answers the subresource probe. It is called concurrently.
type Prober interface {
	// Probe drives a block through the server, in by the path of the engines and out
	// by that of the routers, and returns what came of it. A fault of the server is
	// part of the answer. What is probed is the same for all backends; the name is for
	// logs. API errors keep their meaning for clients, such as that of too many probes
	// at a time.
	Probe(ctx context.Context, backend types.NamespacedName) (inferencecache.CacheBackendProbeStatus, error)
}

// SnapshotLister answers the subresource snapshot. It is called concurrently.
type SnapshotLister interface {
	// ListSnapshot returns one page of the chains that the engines of the
	// CacheBackend hold, in an order that does not change between pages. It
	// returns at most options.Limit items, which is positive, and a continue
	// token when there are more. The token in the options comes from a client:
	// virtual.ErrInvalidContinue and virtual.ErrExpiredContinue refuse it. The
	// metadata is left to the caller, and the answer belongs to it.
	ListSnapshot(ctx context.Context, backend types.NamespacedName, uid types.UID,
		options *inferencecache.CacheBackendSnapshotOptions) (*inferencecache.CacheBackendSnapshot, error)
}
