/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// +k8s:deepcopy-gen=package
// +groupName=inferencecache.io

// Package inferencecache holds the hub of the API group inferencecache.io: the
// one in-memory form that every served version is converted to and from.
//
// The server's own code works on these types, so that it does not change when a
// version is added. They have no JSON form and are never sent or stored. Their
// meaning field by field is documented where clients see it, in the package of
// the served version.
package inferencecache
