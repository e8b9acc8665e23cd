/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package durablefile replaces small files in one step.
//
// A reader, and a process that starts after a crash or a power cut, sees either
// the old content or the new one, never a part of it.
package durablefile
