/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package adapters

import (
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// sglangLMCache is SGLang with LMCache as a worker process beside the engine.
// The worker is the client of the store and speaks RESP only; it always loads
// and stores.
func sglangLMCache() Engine {
	return Engine{
		Runtime:      v1alpha1.RuntimeSGLang,
		Type:         v1alpha1.CacheBackendTypeLMCache,
		Bindings:     []Binding{BindingHostOnly, BindingRESP},
		Modes:        []v1alpha1.IntegrationMode{v1alpha1.IntegrationModeOffload, v1alpha1.IntegrationModeEventsOnly},
		Roles:        []v1alpha1.IntegrationRole{v1alpha1.IntegrationRoleReadWrite},
		FailsClosed:  true,
		ReservedArgs: []string{"--enable-lmcache", "--lmcache-config-file"},
		ReservedEnv:  []string{"LMCACHE_USE_EXPERIMENTAL", EnvFailOpen},
	}
}
