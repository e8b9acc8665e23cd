/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package adapters

import (
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// vllmLMCache is vLLM with LMCache as a connector inside the engine. The
// connector reaches LMCache's own server and Mooncake by URL; RESP belongs to
// the worker beside SGLang.
func vllmLMCache() Engine {
	return Engine{
		Runtime:  v1alpha1.RuntimeVLLM,
		Type:     v1alpha1.CacheBackendTypeLMCache,
		Bindings: []Binding{BindingHostOnly, BindingLM, BindingMooncake},
		Modes:    []v1alpha1.IntegrationMode{v1alpha1.IntegrationModeOffload, v1alpha1.IntegrationModeEventsOnly},
		Roles: []v1alpha1.IntegrationRole{
			v1alpha1.IntegrationRoleReadOnly, v1alpha1.IntegrationRoleWriteOnly, v1alpha1.IntegrationRoleReadWrite,
		},
		FailsClosed: true,
		// vLLM takes the connector's JSON in one piece or, behind a point, member by
		// member.
		ReservedArgs: []string{"--kv-transfer-config", "--kv-transfer-config.*"},
		ReservedEnv: []string{
			"VLLM_USE_V1",
			"LMCACHE_REMOTE_URL",
			EnvFailOpen,
			// The seed of the block hashes: ranks that differ in it never find each
			// other's blocks.
			"PYTHONHASHSEED",
		},
	}
}
