/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cachebackend

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// newBackend returns the backend of every test, of the shape that edit gives it.
func newBackend(edit func(*v1alpha1.CacheBackendSpec)) *v1alpha1.CacheBackend {
	backend := &v1alpha1.CacheBackend{
		ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace, Name: testName, UID: testUID, Generation: 1},
		Spec: v1alpha1.CacheBackendSpec{
			Runtime: v1alpha1.RuntimeSGLang, Type: v1alpha1.CacheBackendTypeLMCache,
			EngineSelector: &v1alpha1.EngineSelector{MatchLabels: map[string]string{"app": "engine"}},
		},
	}
	edit(&backend.Spec)
	return backend
}

func managedRedis(spec *v1alpha1.CacheBackendSpec) {
	spec.RemoteStorage = &v1alpha1.RemoteStorage{Provider: v1alpha1.StorageProviderRedis, Ownership: v1alpha1.StorageOwnershipManaged}
}

func managedLMCacheServer(spec *v1alpha1.CacheBackendSpec) {
	spec.Runtime = v1alpha1.RuntimeVLLM
	spec.RemoteStorage = &v1alpha1.RemoteStorage{Provider: v1alpha1.StorageProviderLMCacheServer, Ownership: v1alpha1.StorageOwnershipManaged}
}

func managedMooncake(spec *v1alpha1.CacheBackendSpec) {
	spec.Runtime = v1alpha1.RuntimeVLLM
	spec.RemoteStorage = &v1alpha1.RemoteStorage{Provider: v1alpha1.StorageProviderMooncake, Ownership: v1alpha1.StorageOwnershipManaged}
}

func externalRedis(spec *v1alpha1.CacheBackendSpec) {
	spec.RemoteStorage = &v1alpha1.RemoteStorage{
		Provider: v1alpha1.StorageProviderRedis, Ownership: v1alpha1.StorageOwnershipExternal, Endpoint: " redis.example.com:6379 ",
	}
}

func hostOnly(*v1alpha1.CacheBackendSpec) {}

func eventsOnly(spec *v1alpha1.CacheBackendSpec) {
	spec.Integration = &v1alpha1.IntegrationSpec{Mode: v1alpha1.IntegrationModeEventsOnly}
}

func hiCache(spec *v1alpha1.CacheBackendSpec) {
	spec.Type, spec.HiCache = v1alpha1.CacheBackendTypeSGLangHiCache, &v1alpha1.HiCacheConfig{SizeGB: ptr.To[int32](8)}
}

func unsupported(spec *v1alpha1.CacheBackendSpec) {
	spec.Runtime, spec.Type = v1alpha1.RuntimeVLLM, v1alpha1.CacheBackendTypeSGLangHiCache
}
