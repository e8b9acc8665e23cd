/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package routelookup is the REST storage of RouteLookup, a virtual kind that is
// created to be answered: the spec of the created object is a lookup, the status
// of the returned one its answer. Nothing is kept, so a dry-run is answered like
// any other request.
//
// The answer comes from a Lookuper, which this package declares.
package routelookup
