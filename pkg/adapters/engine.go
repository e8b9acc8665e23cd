/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package adapters

import (
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// Engine declares one supported pair of runtime and cache type.
type Engine struct {
	// Runtime and Type are the pair.
	Runtime v1alpha1.Runtime
	Type    v1alpha1.CacheBackendType
	// Bindings are the protocols over which the engine reaches a store, and
	// BindingHostOnly if it works without one.
	Bindings []Binding
	// Modes are the integration modes that the pair can be wired for.
	Modes []v1alpha1.IntegrationMode
	// Roles are the parts that the engine can play towards the cache.
	Roles []v1alpha1.IntegrationRole
	// FailsClosed says whether failOpen: false has a meaning for the pair.
	FailsClosed bool
	// NeedsSelector says that a backend which selects no engine does nothing at
	// all, because the cache lives in the engine alone.
	NeedsSelector bool
	// ReservedArgs are flags without which the wiring does not work, so that an
	// operator may neither replace nor suppress them. An entry that ends in * stands
	// for every flag that begins like it.
	ReservedArgs []string
	// ReservedEnv are the variables of the same standing.
	ReservedEnv []string
}

// EnvFailOpen tells an engine's process whether it may serve without its cache.
// Every pair that reads it reserves it: another value there than in the spec
// would make the engine do what the API denies.
const EnvFailOpen = "INFERENCECACHE_FAIL_OPEN"
