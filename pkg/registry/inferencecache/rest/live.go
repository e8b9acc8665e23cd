/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package rest

import (
	"inferencecache.io/inference-cache/pkg/registry/inferencecache/cachebackend"
	"inferencecache.io/inference-cache/pkg/registry/inferencecache/cacheindex"
	"inferencecache.io/inference-cache/pkg/registry/inferencecache/routelookup"
)

// LiveData is what the virtual resources are computed from. All fields are
// required.
type LiveData struct {
	// Observer answers cachebackends/observation.
	Observer cachebackend.Observer
	// Snapshots answers cachebackends/snapshot.
	Snapshots cachebackend.SnapshotLister
	// Prober answers cachebackends/probe.
	Prober cachebackend.Prober
	// Index answers cacheindices.
	Index cacheindex.Reader
	// Routes answers routelookups.
	Routes routelookup.Lookuper
}
