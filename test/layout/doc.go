/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package layout holds the shape of the repository: who may import whom, where
// a module may be linked, how files and packages are named, and that every
// direct dependency is accounted for.
//
// The rules are data (borders.go), read from what the go command reports, so
// they hold without a linter and for every platform's files alike. A package
// that the map does not know fails the test: giving it a place is a decision,
// not an accident.
package layout
