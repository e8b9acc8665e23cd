/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package adapters

// Registry is a set of declarations.
type Registry struct {
	// Engines are the supported pairs, in the order in which people are told of
	// them.
	Engines []Engine
	// Stores are the supported providers.
	Stores []Store
}

// All returns everything that this version supports. The caller owns the result.
func All() Registry {
	return Registry{
		Engines: []Engine{vllmLMCache(), sglangLMCache(), sglangHiCache()},
		Stores:  []Store{redis(), lmCacheServer(), mooncake()},
	}
}
