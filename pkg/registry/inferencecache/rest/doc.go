/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package rest assembles the REST storage of the group inferencecache.io: the
// map from resource paths to storage that an API server installs. It is the one
// place that knows all resources of the group.
package rest
