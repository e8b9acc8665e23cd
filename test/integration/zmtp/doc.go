/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package zmtp tests pkg/zmtp and the clients of pkg/kvevents against libzmq,
// the library that engines use. The tests carry the build tag integration and
// need python3 with pyzmq.
package zmtp
