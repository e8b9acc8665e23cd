/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package fuzzer fills objects of the group with random content for tests. What
// it makes is not valid, but it survives a trip through any served version:
// fields that would be defaulted on the way are never left empty.
package fuzzer
