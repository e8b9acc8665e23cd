/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package programs builds the programs of this module for tests, runs them as
// processes and kills them.
//
// A [Process] is killed by its own id and never by a name, so that tests touch
// nothing that they have not started. A [Server] is a standalone API server
// through all of its lives: it may be killed and started again, and keeps its
// data, its addresses and its token. Everything listens on loopback.
package programs
