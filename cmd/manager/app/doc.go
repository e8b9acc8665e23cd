/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package app has the command line of inference-cache-manager and what it puts
// together, apart from the program so that its documentation can be written from
// it. It has no effect until the command is executed.
//
// A manager is a replica of several that share one Lease: its controllers work in
// the one that holds it, everything else works in all of them. The Lease is given
// back when the program ends, so that the next one starts at once.
package app
