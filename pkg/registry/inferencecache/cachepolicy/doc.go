/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package cachepolicy is the REST storage of CachePolicy and of its status:
// strategy.go decides about writes of the main resource, status.go about those
// of the status, table.go says what kubectl prints, and unique.go that a namespace
// has at most one.
package cachepolicy
