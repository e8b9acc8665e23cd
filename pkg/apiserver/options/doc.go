/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package options turns command line flags into the configuration of an API
// server.
//
// The steps are New, AddFlags, Complete, Validate, Config. Only Config has
// effects outside the process: it takes the data directory, starts embedded
// etcd and opens the listeners. Whatever it opened belongs to the configuration
// that it returns, or is closed again when it fails.
//
// Two ways to run share all of this and differ only in what is left out:
//
//   - In a cluster, requests are authenticated and authorised by the cluster,
//     and pass its admission chain.
//   - Standalone, package standalone takes that place, and the flags of what is
//     absent are refused instead of ignored.
//
// Storage is in either case the etcd named by --etcd-servers or, without that
// flag, one inside the process.
package options
