/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package cacheindex is the REST storage of CacheIndex, a virtual kind with one
// cluster-scoped object named cluster-default.
//
// It can be read, listed and watched, and never written. What it shows comes
// from a Reader, which this package declares; how versions, lists and watches
// behave is decided in package virtual.
package cacheindex
