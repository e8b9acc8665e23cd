/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package probetest lets tests stand in for a store on a loopback port. Everything
// it starts ends with the test.
package probetest
