/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package admission states what the adapters declare in the terms of the
// validation of CacheBackends: hub types in place of the served ones. It is the
// one place where the two meet, so that programs which only read the
// declarations do not link the hub.
package admission
