/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stores_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"inferencecache.io/inference-cache/pkg/adapters"
	"inferencecache.io/inference-cache/pkg/adapters/stores"
	"inferencecache.io/inference-cache/pkg/adapters/workload"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// TestEveryDeclaredStoreHasCode holds that what admission accepts can be rendered
// and probed.
func TestEveryDeclaredStoreHasCode(t *testing.T) {
	for _, declared := range adapters.All().Stores {
		store, known := stores.Of(declared.Provider)
		if !known || store.Provider != declared.Provider || store.Port == 0 || store.Render == nil || store.Probe == nil {
			t.Errorf("%s: %+v, %t", declared.Provider, store, known)
		}
	}
	if _, known := stores.Of("Memcached"); known {
		t.Error("there is code for a store that is not declared")
	}
}

func TestEndpoint(t *testing.T) {
	external := func(provider v1alpha1.StorageProvider, endpoint string) *v1alpha1.CacheBackend {
		return managed(provider, func(spec *v1alpha1.CacheBackendSpec) {
			spec.RemoteStorage.Ownership, spec.RemoteStorage.Endpoint = v1alpha1.StorageOwnershipExternal, endpoint
		})
	}
	tests := map[string]struct {
		backend           *v1alpha1.CacheBackend
		endpoint, address string
	}{
		"managed Redis":         {managed(v1alpha1.StorageProviderRedis), "cache.models.svc:6379", "cache.models.svc:6379"},
		"managed LMCacheServer": {managed(v1alpha1.StorageProviderLMCacheServer), "cache.models.svc:65432", "cache.models.svc:65432"},
		"managed Mooncake":      {managed(v1alpha1.StorageProviderMooncake), "cache.models.svc:50051", "cache.models.svc:50051"},
		"external":              {external(v1alpha1.StorageProviderRedis, " redis.example:6379\n"), "redis.example:6379", "redis.example:6379"},
		"external with scheme":  {external(v1alpha1.StorageProviderLMCacheServer, "LM://[fd00::1]:65432"), "LM://[fd00::1]:65432", "[fd00::1]:65432"},
		"unknown provider":      {managed("Memcached"), "", ""},
		"no store": {managed(v1alpha1.StorageProviderRedis, func(spec *v1alpha1.CacheBackendSpec) {
			spec.RemoteStorage = nil
		}), "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := stores.Endpoint(test.backend); got != test.endpoint {
				t.Errorf("Endpoint() = %q, want %q", got, test.endpoint)
			}
			if got := stores.Address(test.backend); got != test.address {
				t.Errorf("Address() = %q, want %q", got, test.address)
			}
		})
	}
}

// TestPassword holds which stores have a password, where it is, and that whoever
// renders and whoever looks for it agree.
func TestPassword(t *testing.T) {
	generated := &v1alpha1.SecretKeyReference{Name: "cache-store-password", Key: "password"}
	given := &v1alpha1.SecretKeyReference{Name: "redis", Key: "auth"}
	auth := func(auth v1alpha1.RedisAuth) func(*v1alpha1.CacheBackendSpec) {
		return func(spec *v1alpha1.CacheBackendSpec) { spec.RemoteStorage.Redis.Auth = auth }
	}
	external := func(ref *v1alpha1.SecretKeyReference) func(*v1alpha1.CacheBackendSpec) {
		return func(spec *v1alpha1.CacheBackendSpec) {
			spec.RemoteStorage = &v1alpha1.RemoteStorage{
				Provider: v1alpha1.StorageProviderRedis, Ownership: v1alpha1.StorageOwnershipExternal, Endpoint: "r:1", PasswordSecretRef: ref,
			}
		}
	}
	none := func(*v1alpha1.CacheBackendSpec) {}
	tests := map[string]struct {
		backend *v1alpha1.CacheBackend
		want    *v1alpha1.SecretKeyReference
	}{
		"Redis by default":      {managed(v1alpha1.StorageProviderRedis), generated},
		"Redis without a block": {managed(v1alpha1.StorageProviderRedis, func(spec *v1alpha1.CacheBackendSpec) { spec.RemoteStorage.Redis = nil }), generated},
		"Redis, Generated":      {managed(v1alpha1.StorageProviderRedis, auth(v1alpha1.RedisAuthGenerated)), generated},
		"Redis, None":           {managed(v1alpha1.StorageProviderRedis, auth(v1alpha1.RedisAuthNone)), nil},
		"external with one":     {managed(v1alpha1.StorageProviderRedis, external(given)), given},
		"external without":      {managed(v1alpha1.StorageProviderRedis, external(nil)), nil},
		"LMCacheServer":         {managed(v1alpha1.StorageProviderLMCacheServer, none), nil},
		"Mooncake":              {managed(v1alpha1.StorageProviderMooncake, none), nil},
		"no store":              {managed(v1alpha1.StorageProviderRedis, func(spec *v1alpha1.CacheBackendSpec) { spec.RemoteStorage = nil }), nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, stores.PasswordRef(test.backend)); diff != "" {
				t.Errorf("PasswordRef() (-want +got):\n%s", diff)
			}
			if storage := test.backend.Spec.RemoteStorage; storage == nil || storage.Ownership != v1alpha1.StorageOwnershipManaged {
				return
			}
			objects := render(t, test.backend)
			if (objects.Secret != nil) != (test.want != nil) {
				t.Fatalf("Secret %v, want one: %t", objects.Secret, test.want != nil)
			}
			if objects.Secret != nil && (objects.Secret.Name != test.want.Name || string(objects.Secret.Data[test.want.Key]) == "") {
				t.Errorf("Secret %s with %v", objects.Secret.Name, objects.Secret.Data)
			}
		})
	}
}

// TestOnlyStoresWithClientsThatLogInHavePasswords holds the generated password to
// what is declared of the engines' clients.
func TestOnlyStoresWithClientsThatLogInHavePasswords(t *testing.T) {
	for _, declared := range adapters.All().Stores {
		if stores.GeneratesPassword(managed(declared.Provider)) != declared.Password {
			t.Errorf("%s generates a password: %t, its clients can log in: %t", declared.Provider, !declared.Password, declared.Password)
		}
	}
}

// TestANewPasswordRestartsTheStore holds that a store takes a password that had to
// be made anew, and nothing of it shows.
func TestANewPasswordRestartsTheStore(t *testing.T) {
	store, _ := stores.Of(v1alpha1.StorageProviderRedis)
	revision := func(password string) string {
		objects, err := store.Render(workload.Input{Backend: managed(v1alpha1.StorageProviderRedis), Password: password})
		if err != nil {
			t.Fatal(err)
		}
		return objects.Deployment.Spec.Template.Annotations[workload.AnnotationPasswordRevision]
	}
	first, again, other := revision("a"), revision("a"), revision("b")
	if first == other {
		t.Error("Pods do not change with the password")
	}
	if first != again {
		t.Error("Pods change without need")
	}
}
