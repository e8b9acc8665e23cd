/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package progress tells when the index knows what an engine has said.
//
// Between an engine's message and the index lie two sockets, a window in which
// changes are collected, and a stream. A test that compares an answer with an
// engine has to know that all of it has been passed, and to know it from the
// programs themselves: it reads the metrics with which a subscriber says how far
// it has come.
package progress
