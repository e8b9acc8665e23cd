/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package processes kills real processes and looks whether what is left agrees.
//
// One standalone API server serves the index. Simulated engines speak on real
// sockets, each with a subscriber process beside it. While requests run, server
// and subscribers are killed with SIGKILL and started again, engines start anew,
// messages get lost, some of them for good. In the end LookupRoute has to say of
// every prompt what the engine then reuses.
//
// One more engine dies for good beside its subscriber, and must not be shown as
// one that is alive.
//
// The programs are built from this module when the tests start. Everything
// listens on loopback, and only what a test has started is killed.
package processes
