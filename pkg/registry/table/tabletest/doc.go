/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package tabletest prints tables in tests the way kubectl does, so that a test
// can compare a kind's columns with a text that a person can read.
package tabletest
