/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package validation holds the rules that objects of the group must keep, on the
// hub types and independent of the served version.
//
// A function named Validate… takes a whole object, already defaulted, and
// returns every violation it finds, each at the path under which a client knows
// the field and with a text that says how to mend it. It decides by the objects
// and by what the adapters declare: it reads nothing else, changes nothing and
// may be called concurrently.
//
// Whatever ends up in a Pod is held to the rules of a Pod here already, so that
// no accepted object leads to a workload which the cluster refuses later, where
// nobody looks. Checks that Kubernetes publishes are called; the others are
// written out, and never looser than a cluster's.
//
// A function named Validate…Update refuses only what the update introduces. A
// violation that the stored object has already, because it was stored under
// looser rules, does not keep anybody from editing something else.
package validation
