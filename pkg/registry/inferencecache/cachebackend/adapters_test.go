/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/validation"
)

// testAdapters declare one pair that goes with every provider.
type testAdapters struct{}

func (testAdapters) Engines() []validation.Engine {
	return []validation.Engine{{
		Runtime:     inferencecache.RuntimeVLLM,
		Type:        inferencecache.CacheBackendTypeLMCache,
		Bindings:    []string{validation.HostOnly, "wire"},
		Modes:       []inferencecache.IntegrationMode{inferencecache.IntegrationModeOffload, inferencecache.IntegrationModeEventsOnly},
		Roles:       []inferencecache.IntegrationRole{inferencecache.IntegrationRoleReadWrite},
		FailsClosed: true,
	}}
}

func (testAdapters) Stores() []validation.Store {
	return []validation.Store{
		{Provider: inferencecache.StorageProviderRedis, Binding: "wire"},
		{Provider: inferencecache.StorageProviderLMCacheServer, Binding: "wire"},
		{Provider: inferencecache.StorageProviderMooncake, Binding: "wire", EngineHostNetwork: true},
	}
}
