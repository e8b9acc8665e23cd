/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stores

import (
	"context"
	"strings"

	"inferencecache.io/inference-cache/pkg/adapters/lmcacheserver"
	"inferencecache.io/inference-cache/pkg/adapters/mooncake"
	"inferencecache.io/inference-cache/pkg/adapters/probe"
	"inferencecache.io/inference-cache/pkg/adapters/redis"
	"inferencecache.io/inference-cache/pkg/adapters/workload"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// Store is the code of one provider. Its functions may be called concurrently.
type Store struct {
	// Provider names the provider.
	Provider v1alpha1.StorageProvider
	// Port is the port on which clients reach a managed store.
	Port int32
	// Render returns the objects of a managed store.
	Render func(workload.Input) (workload.Objects, error)
	// Probe checks a store, managed or not.
	Probe func(context.Context, probe.Target) probe.Result
}

// all returns the code of every provider.
func all() []Store {
	return []Store{
		{Provider: v1alpha1.StorageProviderRedis, Port: redis.Port, Render: redis.Render, Probe: redis.Probe},
		{Provider: v1alpha1.StorageProviderLMCacheServer, Port: lmcacheserver.Port, Render: lmcacheserver.Render, Probe: lmcacheserver.Probe},
		{Provider: v1alpha1.StorageProviderMooncake, Port: mooncake.Port, Render: mooncake.Render, Probe: mooncake.Probe},
	}
}

// Of returns the code of a provider, and whether there is any.
func Of(provider v1alpha1.StorageProvider) (Store, bool) {
	for _, store := range all() {
		if store.Provider == provider {
			return store, true
		}
	}
	return Store{}, false
}

// Endpoint returns where the store of a backend listens: for a managed one its
// Service, which is known before it is there; for an external one what the spec
// says, without blanks around it and with the scheme that it may carry. It is
// empty for a backend without a store and for a provider that is not known.
func Endpoint(backend *v1alpha1.CacheBackend) string {
	storage := backend.Spec.RemoteStorage
	if storage == nil {
		return ""
	}
	if storage.Ownership == v1alpha1.StorageOwnershipExternal {
		return strings.TrimSpace(storage.Endpoint)
	}
	store, known := Of(storage.Provider)
	if !known {
		return ""
	}
	return workload.Endpoint(backend, store.Port)
}

// Address returns Endpoint without a scheme, as it is dialled.
func Address(backend *v1alpha1.CacheBackend) string {
	endpoint := Endpoint(backend)
	if _, address, found := strings.Cut(endpoint, "://"); found {
		return address
	}
	return endpoint
}

// GeneratesPassword says whether the store of a backend has a password that the
// controller makes.
func GeneratesPassword(backend *v1alpha1.CacheBackend) bool {
	return redis.GeneratesPassword(backend.Spec.RemoteStorage)
}

// PasswordRef returns where the password of a backend's store is kept: the Secret
// of a managed store that generates one, or the one that an external store names.
// It is nil for a store without a password.
func PasswordRef(backend *v1alpha1.CacheBackend) *v1alpha1.SecretKeyReference {
	if GeneratesPassword(backend) {
		ref := workload.PasswordRef(backend)
		return &ref
	}
	if storage := backend.Spec.RemoteStorage; storage != nil && storage.PasswordSecretRef != nil {
		return storage.PasswordSecretRef.DeepCopy()
	}
	return nil
}
