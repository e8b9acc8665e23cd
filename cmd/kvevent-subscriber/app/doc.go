/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package app has the command line of kvevent-subscriber, apart from the program so
// that its documentation can be written from it. It has no effect until the command
// is executed.
package app
