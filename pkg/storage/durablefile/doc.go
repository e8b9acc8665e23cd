/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package durablefile makes files that are there whole or not at all.
//
// A reader, and a process that starts after a crash or a power cut, sees either
// the old content or the new one, never a part of it. Write is for small content
// that is at hand, Create for content that comes as a stream.
package durablefile
