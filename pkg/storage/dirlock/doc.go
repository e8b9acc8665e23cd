/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package dirlock makes sure that one server at a time uses a data directory.
//
// The lock is the kernel's, on a file named lock inside the directory: it ends
// with the process that holds it, however that process ends, so there is never
// a stale lock to remove. It also excludes a second use within one process.
package dirlock
