/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package baseline has two indexes of which replica holds which block, built as
// projects of the field build theirs: the yardsticks of the figures that the
// benchmark prints. They are written to be fair, not to be used: plain Go, no
// trick that those projects do not have and no clumsiness either.
//
// [NestedMap] keeps a map of maps behind one lock and walks a chain block by block
// and holder by holder, making a map of the holders that are left at every block.
// [KeyWalk] keeps a slice of holders per block in one least-recently-used list and
// folds a walk over the blocks into one pooled accumulator.
//
// Both answer the same question: how many consecutive blocks of a chain, from its
// first one on, each replica has. All methods are safe for concurrent use.
package baseline
