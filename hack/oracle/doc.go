/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package oracle holds our validation against that of Kubernetes: whatever a
// CacheBackend may carry into a Pod and we accept, a cluster must accept too.
//
// The judges are the strategies of a real API server, with its defaults, for Pods
// and for every kind of object that a managed store is rendered as. The cases are
// random and the same in every run, and those of the stores' own tests.
package oracle
