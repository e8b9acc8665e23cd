/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package conformance tests what every kind of the group owes to clients,
// whatever the kind is: it asks a running server by discovery which resources
// there are and holds each of them against the same rules. A new resource is
// tested from the day it is served; a stored one needs a sample in testdata,
// and its absence is a failure.
//
// [Test] has the rules for any server, whether its clients reach it directly or
// through the aggregation layer of a cluster.
package conformance
