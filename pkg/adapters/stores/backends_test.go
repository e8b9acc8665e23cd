/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stores_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/adapters/workload"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// providers are the providers with an engine that uses each.
func providers() map[v1alpha1.StorageProvider]v1alpha1.Runtime {
	return map[v1alpha1.StorageProvider]v1alpha1.Runtime{
		v1alpha1.StorageProviderRedis:         v1alpha1.RuntimeSGLang,
		v1alpha1.StorageProviderLMCacheServer: v1alpha1.RuntimeVLLM,
		v1alpha1.StorageProviderMooncake:      v1alpha1.RuntimeVLLM,
	}
}

// managed returns a backend with a managed store, changed by edits.
func managed(provider v1alpha1.StorageProvider, edits ...func(*v1alpha1.CacheBackendSpec)) *v1alpha1.CacheBackend {
	backend := &v1alpha1.CacheBackend{
		ObjectMeta: metav1.ObjectMeta{Name: "cache", Namespace: "models", UID: "6f1c3a52-0d55-4b5e-9a37-0f1d0e6f7a11"},
		Spec: v1alpha1.CacheBackendSpec{
			Runtime: providers()[provider],
			RemoteStorage: &v1alpha1.RemoteStorage{
				Provider: provider, Ownership: v1alpha1.StorageOwnershipManaged,
				Redis: &v1alpha1.RedisStorage{}, LMCacheServer: &v1alpha1.LMCacheServerStorage{}, Mooncake: &v1alpha1.MooncakeStorage{},
			},
		},
	}
	for _, edit := range edits {
		edit(&backend.Spec)
	}
	v1alpha1.SetObjectDefaults_CacheBackend(backend)
	return backend
}

// resources sets the resources of a store, whatever its provider.
func resources(block *corev1.ResourceRequirements) func(*v1alpha1.CacheBackendSpec) {
	return func(spec *v1alpha1.CacheBackendSpec) {
		spec.RemoteStorage.Redis.Resources = block
		spec.RemoteStorage.LMCacheServer.Resources = block
		spec.RemoteStorage.Mooncake.Resources = block
	}
}

// statefulSet asks for a StatefulSet.
func statefulSet(spec *v1alpha1.CacheBackendSpec) {
	spec.DeploymentKind = v1alpha1.DeploymentKindStatefulSet
}

// template returns the Pods of the workload.
func template(t *testing.T, objects workload.Objects) corev1.PodTemplateSpec {
	t.Helper()
	switch {
	case objects.Deployment != nil && objects.StatefulSet == nil:
		return objects.Deployment.Spec.Template
	case objects.StatefulSet != nil && objects.Deployment == nil:
		return objects.StatefulSet.Spec.Template
	}
	t.Fatal("not exactly one workload")
	return corev1.PodTemplateSpec{}
}

// replicas returns how many Pods the workload has.
func replicas(t *testing.T, objects workload.Objects) int32 {
	t.Helper()
	if objects.Deployment != nil {
		return *objects.Deployment.Spec.Replicas
	}
	return *objects.StatefulSet.Spec.Replicas
}

// recreates says whether a workload never has an old and a new Pod at once.
func recreates(objects workload.Objects) bool {
	return objects.StatefulSet != nil || objects.Deployment.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType
}
