/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package cluster tests that the API server is a good citizen of a real cluster:
// everything that users, clients and controllers expect of a built-in kind holds
// for ours behind the aggregation layer.
//
// One control plane and one server behind it, installed with the shipped manifests
// and run with the rights of these, are shared by all tests. A test works in a
// namespace of its own, or runs alone. The tests carry the build tag "e2e";
// `make e2e` builds what they need and runs them.
package cluster
