/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package replicas holds the claim that replicas of the index which know the same
// say the same, to the byte: whoever asks any of them, or goes on at another one
// in the middle of a listing, sees one state.
//
// Recordings of real engines go through a subscriber to two index servers. One is
// there from the beginning and takes every delta; the other comes late, begins
// with a snapshot, and loses its state once more.
package replicas
