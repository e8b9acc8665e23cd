/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package scale measures the manager in a cluster with many CacheBackends and Pods: a
// real control plane with fake nodes, our API server behind it, and the program with
// the account and the rights of the manifests. The test has the build tag e2e.
//
// It prints how long a fleet takes to be as it should be, how often the manager calls
// the cluster when nothing changes, its memory, and what a restart costs; and it kills
// the manager while it provisions, after which every backend has exactly its objects.
// Times are printed and never judged, since they are the machine's as much as the
// manager's; only what does not happen for minutes fails.
//
// A tenth of the full size is what a plain run has. Names of Services do not resolve
// there, so that the manager runs without probes, and Pods do not pass its webhook.
package scale
