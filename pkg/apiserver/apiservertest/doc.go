/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package apiservertest runs complete standalone servers inside a test.
//
// A server has its own data directory, free ports, real TLS and the real token:
// what a test reaches through it is what a user reaches. Only fsync is off,
// since no test here outlives its machine; what must survive a crash is tested
// with real processes.
package apiservertest
