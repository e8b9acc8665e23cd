/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package sglanghicache switches SGLang's own hierarchical cache on. It is made of
// flags alone: blocks go to the memory of the engine's container, which has to be
// large enough for them.
//
// A flag that a user has given with the value that is wanted stays as it is. With
// another value, twice, or in both of the ways in which a size can be given, nothing
// is injected.
package sglanghicache
