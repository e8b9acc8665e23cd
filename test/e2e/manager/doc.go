/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package manager tests the manager as a part of a cluster: a real control plane
// with fake nodes, our API server behind it, and the program itself with the account
// and the rights of the manifests. The tests have the build tag e2e.
//
// Pods run no containers there. What a store or an engine would do is done by the
// test: an engine is a simulated one with a real subscriber, in the name of a Pod.
// Names of Services do not resolve, so that the manager runs without probes.
package manager
