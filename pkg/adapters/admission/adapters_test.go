/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/pkg/adapters"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/validation"
)

func TestNew(t *testing.T) {
	engine := adapters.Engine{
		Runtime: v1alpha1.RuntimeVLLM, Type: v1alpha1.CacheBackendTypeLMCache,
		Bindings:    []adapters.Binding{adapters.BindingHostOnly, adapters.BindingRESP},
		Modes:       []v1alpha1.IntegrationMode{v1alpha1.IntegrationModeOffload},
		Roles:       []v1alpha1.IntegrationRole{v1alpha1.IntegrationRoleReadOnly},
		FailsClosed: true, NeedsSelector: true, ReservedArgs: []string{"--a"}, ReservedEnv: []string{"B"},
	}
	store := adapters.Store{
		Provider: v1alpha1.StorageProviderRedis, Binding: adapters.BindingRESP, Schemes: []string{"a"},
		Singleton: true, HostNetwork: true, EngineHostNetwork: true, Password: true,
	}
	// A field that is added later is caught here before it is forgotten below.
	for _, declaration := range []any{engine, store} {
		value := reflect.ValueOf(declaration)
		for i := range value.NumField() {
			if value.Field(i).IsZero() {
				t.Errorf("the test declares nothing for %s.%s", value.Type(), value.Type().Field(i).Name)
			}
		}
	}
	got := New(adapters.Registry{Engines: []adapters.Engine{engine}, Stores: []adapters.Store{store}})
	wantEngines := []validation.Engine{{
		Runtime: inferencecache.RuntimeVLLM, Type: inferencecache.CacheBackendTypeLMCache,
		Bindings:    []string{validation.HostOnly, "resp"},
		Modes:       []inferencecache.IntegrationMode{inferencecache.IntegrationModeOffload},
		Roles:       []inferencecache.IntegrationRole{inferencecache.IntegrationRoleReadOnly},
		FailsClosed: true, NeedsSelector: true, ReservedArgs: []string{"--a"}, ReservedEnv: []string{"B"},
	}}
	wantStores := []validation.Store{{
		Provider: inferencecache.StorageProviderRedis, Binding: "resp", Schemes: []string{"a"},
		Singleton: true, HostNetwork: true, EngineHostNetwork: true, Password: true,
	}}
	if diff := cmp.Diff(wantEngines, got.Engines()); diff != "" {
		t.Errorf("engines (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantStores, got.Stores()); diff != "" {
		t.Errorf("stores (-want +got):\n%s", diff)
	}
}
