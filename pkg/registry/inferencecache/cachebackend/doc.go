/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package cachebackend is the REST storage of CacheBackend and of its
// subresources.
//
// The main resource, status and scale live in etcd: strategy.go decides about
// writes of the main resource, status.go about those of the status, scale.go
// shows and changes the number of replicas as an autoscaling/v1 Scale, and
// table.go says what kubectl prints.
//
// The subresources observation, snapshot and probe are virtual. They read the
// CacheBackend first, so that an unknown name is a 404 and the identity in the
// answer is that of the object, and then ask an Observer, a SnapshotLister or a
// Prober. A probe is created to be answered and kept nowhere, so a dry-run is answered
// like any other request.
// This package declares those interfaces and knows nothing of what is behind
// them.
package cachebackend
