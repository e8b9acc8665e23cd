/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"testing"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
)

// declared are adapters of a test.
type declared struct {
	engines []Engine
	stores  []Store
}

func (d declared) Engines() []Engine { return d.engines }
func (d declared) Stores() []Store   { return d.stores }

// permissive are adapters that leave all decisions to the rules that hold
// whatever is declared.
func permissive() Adapters {
	bindings := []string{HostOnly, "resp", "lm", "mesh"}
	lmcache, hicache := inferencecache.CacheBackendTypeLMCache, inferencecache.CacheBackendTypeSGLangHiCache
	engine := Engine{Bindings: bindings, Modes: integrationModes, Roles: integrationRoles, FailsClosed: true}
	vllm, sglang, native := engine, engine, engine
	vllm.Runtime, vllm.Type = inferencecache.RuntimeVLLM, lmcache
	sglang.Runtime, sglang.Type = inferencecache.RuntimeSGLang, lmcache
	native.Runtime, native.Type = inferencecache.RuntimeSGLang, hicache
	return declared{
		engines: []Engine{vllm, sglang, native},
		stores: []Store{
			{Provider: inferencecache.StorageProviderRedis, Binding: "resp", Password: true},
			{Provider: inferencecache.StorageProviderLMCacheServer, Binding: "lm", Schemes: []string{"lm"}},
			{Provider: inferencecache.StorageProviderMooncake, Binding: "mesh", Schemes: []string{"mesh"}},
		},
	}
}

// TestDeclarationsDecide holds that a backend is judged by what is declared of
// its pair and of its store, and by nothing that validation knows itself.
func TestDeclarationsDecide(t *testing.T) {
	adapters := declared{
		engines: []Engine{{
			Runtime: inferencecache.RuntimeVLLM, Type: inferencecache.CacheBackendTypeLMCache,
			Bindings:      []string{"wire"},
			Modes:         []inferencecache.IntegrationMode{inferencecache.IntegrationModeEventsOnly},
			Roles:         []inferencecache.IntegrationRole{inferencecache.IntegrationRoleReadOnly},
			NeedsSelector: true,
		}},
		stores: []Store{{Provider: inferencecache.StorageProviderRedis, Binding: "wire", EngineHostNetwork: true}},
	}
	tests := map[string]struct {
		change func(*inferencecache.CacheBackendSpec)
		want   []string
	}{
		"what the pair lacks": {
			change: func(*inferencecache.CacheBackendSpec) {},
			want: []string{
				`spec.integration.mode: Invalid value: "Offload": is not supported by VLLM/LMCache; set it to "EventsOnly"`,
				`spec.integration.role: Invalid value: "ReadWrite": is not supported by VLLM/LMCache; set it to "ReadOnly"`,
				`spec.engineSelector.matchLabels: Required value: VLLM/LMCache lives in the engine; set the labels of the engine Pods that use it`,
				`spec.remoteStorage: Required value: VLLM/LMCache needs a store; set provider to Redis`,
			},
		},
		"another pair": {
			change: func(s *inferencecache.CacheBackendSpec) { s.Runtime = inferencecache.RuntimeSGLang },
			want:   []string{`spec.type: Invalid value: "LMCache": no adapter supports it with runtime SGLang; supported pairs: VLLM/LMCache`},
		},
		"what the store has": {
			change: func(s *inferencecache.CacheBackendSpec) {
				s.Integration.Mode, s.Integration.Role = inferencecache.IntegrationModeOffload, inferencecache.IntegrationRoleReadOnly
				s.Integration.EngineHostNetwork = true
				s.EngineSelector = &inferencecache.EngineSelector{MatchLabels: map[string]string{"a": "b"}}
				s.RemoteStorage = &inferencecache.RemoteStorage{
					Provider: inferencecache.StorageProviderRedis, Ownership: inferencecache.StorageOwnershipManaged,
				}
			},
			want: []string{`spec.integration.mode: Invalid value: "Offload": is not supported by VLLM/LMCache; set it to "EventsOnly"`},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			backend := validBackend()
			test.change(&backend.Spec)
			compare(t, test.want, ValidateCacheBackend(backend, adapters))
		})
	}
}
