/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"slices"
	"strings"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

// Adapters tells which engines and stores can be wired and what they accept.
// Validation knows no engine and no store by name: it holds a CacheBackend to
// what is declared here. Implementations are safe for concurrent use, and what
// they return is not changed by anybody.
type Adapters interface {
	// Engines are the supported pairs of runtime and type.
	Engines() []Engine
	// Stores are the supported providers.
	Stores() []Store
}

// HostOnly is the binding of an engine that uses no store.
const HostOnly = ""

// Engine is what one pair of runtime and type accepts.
type Engine struct {
	// Runtime and Type are the pair.
	Runtime inferencecache.Runtime
	Type    inferencecache.CacheBackendType
	// Bindings are the protocols of the stores that the engine can use, and HostOnly
	// if it works without one.
	Bindings []string
	// Modes and Roles are the values of spec.integration that the pair supports.
	Modes []inferencecache.IntegrationMode
	Roles []inferencecache.IntegrationRole
	// FailsClosed allows failOpen: false.
	FailsClosed bool
	// NeedsSelector refuses a backend that selects no engine.
	NeedsSelector bool
	// ReservedArgs and ReservedEnv are what overrides may not touch. A flag that ends
	// in * stands for all that begin like it.
	ReservedArgs []string
	ReservedEnv  []string
}

// Store is what one provider accepts.
type Store struct {
	// Provider names the store.
	Provider inferencecache.StorageProvider
	// Binding is the protocol that it speaks.
	Binding string
	// Schemes are the URL schemes that its endpoint may carry.
	Schemes []string
	// Singleton refuses more than one replica of a managed store.
	Singleton bool
	// HostNetwork says that a managed store runs on its node's network.
	HostNetwork bool
	// EngineHostNetwork allows engines to be put on their node's network.
	EngineHostNetwork bool
	// Password allows a password for an external store.
	Password bool
}

// String is the pair as people write it, such as VLLM/LMCache.
func (e Engine) String() string {
	return string(e.Runtime) + "/" + string(e.Type)
}

// engineOf returns the engine of a backend, or nil when no adapter supports the
// pair.
func engineOf(spec *inferencecache.CacheBackendSpec, adapters Adapters) *Engine {
	engines := adapters.Engines()
	if i := slices.IndexFunc(engines, func(e Engine) bool { return e.Runtime == spec.Runtime && e.Type == spec.Type }); i >= 0 {
		return &engines[i]
	}
	return nil
}

// storeOf returns the store of a backend, or nil when it has none that is known.
func storeOf(storage *inferencecache.RemoteStorage, adapters Adapters) *Store {
	if storage == nil {
		return nil
	}
	stores := adapters.Stores()
	if i := slices.IndexFunc(stores, func(s Store) bool { return s.Provider == storage.Provider }); i >= 0 {
		return &stores[i]
	}
	return nil
}

// managedStore returns the store whose Pods a backend provisions, or nil.
func managedStore(spec *inferencecache.CacheBackendSpec, adapters Adapters) *Store {
	if spec.RemoteStorage == nil || spec.RemoteStorage.Ownership != inferencecache.StorageOwnershipManaged {
		return nil
	}
	return storeOf(spec.RemoteStorage, adapters)
}

// pairs lists the supported pairs.
func pairs(adapters Adapters) string {
	var names []string
	for _, engine := range adapters.Engines() {
		names = append(names, engine.String())
	}
	return strings.Join(names, ", ")
}

// usableWith says what an engine can be given instead of a store that it cannot
// use.
func (e *Engine) usableWith(adapters Adapters) string {
	var providers, choices []string
	for _, store := range adapters.Stores() {
		if slices.Contains(e.Bindings, store.Binding) {
			providers = append(providers, string(store.Provider))
		}
	}
	if len(providers) > 0 {
		choices = append(choices, "set provider to "+strings.Join(providers, " or "))
	}
	if slices.Contains(e.Bindings, HostOnly) {
		choices = append(choices, "remove spec.remoteStorage for a cache on the engine's host alone")
	}
	return strings.Join(choices, ", or ")
}
