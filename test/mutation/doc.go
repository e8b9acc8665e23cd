/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package mutation gives fuzz targets more than their seeds in a plain run of
// go test.
//
// Without -fuzz, go test calls a target with the inputs that the target adds
// itself, so a parser would meet only what its author thought of. Fuzzing proper
// compiles everything below the target once more with coverage counters, which
// takes minutes for the whole module and is left to make fuzz. Between the two
// stands a [Corpus]: it mutates the target's own seeds, a fixed number of times
// and always in the same way, and adds the results as further seeds.
//
// An input that fails is named by the test, like FuzzDecode/seed#412, runs alone
// with -run of that name, and is logged in the form of a file under
// testdata/fuzz. With -fuzz a [Corpus] adds nothing: Go mutates better, because it
// sees which code an input reaches.
package mutation
