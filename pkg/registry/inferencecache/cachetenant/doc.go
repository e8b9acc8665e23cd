/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package cachetenant is the REST storage of CacheTenant and of its status:
// strategy.go decides about writes of the main resource, status.go about those
// of the status, table.go says what kubectl prints, unique.go that a tenantID has
// one owner, and namespaces.go that it is no other namespace's name.
package cachetenant
