/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package adapters

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// TestBindingMatrix writes down which pair goes with which provider.
func TestBindingMatrix(t *testing.T) {
	want := map[string][]string{
		"VLLM/LMCache":         {"host-only", "LMCacheServer", "Mooncake"},
		"SGLang/LMCache":       {"host-only", "Redis"},
		"SGLang/SGLangHiCache": {"host-only"},
	}
	all := All()
	got := map[string][]string{}
	for _, engine := range all.Engines {
		pair := string(engine.Runtime) + "/" + string(engine.Type)
		if _, twice := got[pair]; twice {
			t.Errorf("%s is declared twice", pair)
		}
		if slices.Contains(engine.Bindings, BindingHostOnly) {
			got[pair] = append(got[pair], "host-only")
		}
		for _, store := range all.Stores {
			if slices.Contains(engine.Bindings, store.Binding) {
				got[pair] = append(got[pair], string(store.Provider))
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("providers by pair (-want +got):\n%s", diff)
	}
}

// TestReserved writes down what overrides may not touch. A name that leaves this
// list lets an operator unwire an engine without a word.
func TestReserved(t *testing.T) {
	type reserved struct{ Args, Env []string }
	want := map[v1alpha1.Runtime]map[v1alpha1.CacheBackendType]reserved{
		v1alpha1.RuntimeVLLM: {v1alpha1.CacheBackendTypeLMCache: {
			Args: []string{"--kv-transfer-config", "--kv-transfer-config.*"},
			Env:  []string{"VLLM_USE_V1", "LMCACHE_REMOTE_URL", "INFERENCECACHE_FAIL_OPEN", "PYTHONHASHSEED"},
		}},
		v1alpha1.RuntimeSGLang: {
			v1alpha1.CacheBackendTypeLMCache: {
				Args: []string{"--enable-lmcache", "--lmcache-config-file"},
				Env:  []string{"LMCACHE_USE_EXPERIMENTAL", "INFERENCECACHE_FAIL_OPEN"},
			},
			v1alpha1.CacheBackendTypeSGLangHiCache: {Args: []string{"--enable-hierarchical-cache", "--hicache-*"}},
		},
	}
	got := map[v1alpha1.Runtime]map[v1alpha1.CacheBackendType]reserved{}
	for _, engine := range All().Engines {
		if got[engine.Runtime] == nil {
			got[engine.Runtime] = map[v1alpha1.CacheBackendType]reserved{}
		}
		got[engine.Runtime][engine.Type] = reserved{Args: engine.ReservedArgs, Env: engine.ReservedEnv}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reserved (-want +got):\n%s", diff)
	}
}

// TestStoresAreOfUse holds that every provider is declared once and that some
// engine can use it.
func TestStoresAreOfUse(t *testing.T) {
	all := All()
	seen := map[v1alpha1.StorageProvider]bool{}
	for _, store := range all.Stores {
		if seen[store.Provider] {
			t.Errorf("%s is declared twice", store.Provider)
		}
		seen[store.Provider] = true
		if !slices.ContainsFunc(all.Engines, func(e Engine) bool { return slices.Contains(e.Bindings, store.Binding) }) {
			t.Errorf("no engine speaks %s to %s", store.Binding, store.Provider)
		}
	}
}

func TestAllBelongsToTheCaller(t *testing.T) {
	first := All()
	first.Engines[0].ReservedEnv[0] = "CHANGED"
	first.Stores[1].Schemes[0] = "changed"
	if second := All(); second.Engines[0].ReservedEnv[0] == "CHANGED" || second.Stores[1].Schemes[0] == "changed" {
		t.Error("a change of one result shows in the next")
	}
}
