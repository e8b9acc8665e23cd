/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"slices"

	"inferencecache.io/inference-cache/pkg/adapters"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/validation"
)

// Adapters are declarations as validation takes them. It is immutable.
type Adapters struct {
	engines []validation.Engine
	stores  []validation.Store
}

var _ validation.Adapters = Adapters{}

// New returns the declarations of a registry.
func New(registry adapters.Registry) Adapters {
	var a Adapters
	for _, engine := range registry.Engines {
		a.engines = append(a.engines, validation.Engine{
			Runtime:       inferencecache.Runtime(engine.Runtime),
			Type:          inferencecache.CacheBackendType(engine.Type),
			Bindings:      as[string](engine.Bindings),
			Modes:         as[inferencecache.IntegrationMode](engine.Modes),
			Roles:         as[inferencecache.IntegrationRole](engine.Roles),
			FailsClosed:   engine.FailsClosed,
			NeedsSelector: engine.NeedsSelector,
			ReservedArgs:  slices.Clone(engine.ReservedArgs),
			ReservedEnv:   slices.Clone(engine.ReservedEnv),
		})
	}
	for _, store := range registry.Stores {
		a.stores = append(a.stores, validation.Store{
			Provider:          inferencecache.StorageProvider(store.Provider),
			Binding:           string(store.Binding),
			Schemes:           slices.Clone(store.Schemes),
			Singleton:         store.Singleton,
			HostNetwork:       store.HostNetwork,
			EngineHostNetwork: store.EngineHostNetwork,
			Password:          store.Password,
		})
	}
	return a
}

// Engines implements validation.Adapters.
func (a Adapters) Engines() []validation.Engine { return a.engines }

// Stores implements validation.Adapters.
func (a Adapters) Stores() []validation.Store { return a.stores }

// as converts a list of names from one type to another.
func as[To, From ~string](names []From) []To {
	converted := make([]To, len(names))
	for i, name := range names {
		converted[i] = To(name)
	}
	return converted
}
