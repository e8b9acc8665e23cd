/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package install makes a scheme know the group inferencecache.io: the hub, every
// served version, and which version is preferred.
package install
