/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package tenancy writes the status of CacheTenants and CachePolicies: which of them
// the API server goes by, and how much of the live index a tenant has.
//
// JudgeTenant and JudgePolicy are pure functions: equal facts give an equal status,
// and judging again with that status changes nothing. What is not known takes nothing
// back: while the index cannot be read or is being rebuilt, figures only grow and a
// condition that was never published stays absent.
//
// The API server decides by itself and at once; nothing waits for a status. Admission
// lets one object claim a tenant or a namespace, so several are found only where an
// earlier version or a restored backup left them, or where a namespace came to be
// that has a tenant's name. Which one holds follows the rules that the server goes by.
//
// The controllers read caches, and call the cluster only when a status changes.
package tenancy
