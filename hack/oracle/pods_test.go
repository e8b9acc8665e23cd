/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package oracle

import (
	"cmp"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/adapters/stores"
	"inferencecache.io/inference-cache/pkg/adapters/workload"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/install"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// storePod is the Pod of the managed store that a backend is rendered as. A
// Mooncake shares its node's network.
func storePod(t *testing.T, spec *inferencecache.CacheBackendSpec) corev1.PodTemplateSpec {
	t.Helper()
	hub := validBackend()
	hub.Spec = *spec
	return render(t, served(t, hub)).Deployment.Spec.Template
}

// served is a backend as the manager reads it.
func served(t *testing.T, hub *inferencecache.CacheBackend) *v1alpha1.CacheBackend {
	t.Helper()
	scheme := runtime.NewScheme()
	install.Install(scheme)
	backend := &v1alpha1.CacheBackend{}
	if err := scheme.Convert(hub, backend, nil); err != nil {
		t.Fatal(err)
	}
	return backend
}

// render returns the objects of a backend's managed store.
func render(t *testing.T, backend *v1alpha1.CacheBackend) workload.Objects {
	t.Helper()
	backend.UID = "6f1c3a52-0d55-4b5e-9a37-0f1d0e6f7a11"
	store, known := stores.Of(backend.Spec.RemoteStorage.Provider)
	if !known {
		t.Fatalf("there is no store of provider %s", backend.Spec.RemoteStorage.Provider)
	}
	objects, err := store.Render(workload.Input{Backend: backend, Password: "password", ManagerNamespace: "inference-cache-system"})
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// enginePod is an engine with the variables, the arguments and the worker that a
// CacheBackend brings into it.
func enginePod(_ *testing.T, spec *inferencecache.CacheBackendSpec) corev1.PodTemplateSpec {
	overrides := ptr.Deref(spec.Integration.EngineOverrides, inferencecache.EngineOverrides{})
	config := ptr.Deref(spec.LMCache, inferencecache.LMCacheConfig{})
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{{
			Name: "worker", Image: cmp.Or(config.WorkerImage, "engine:1"), RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways),
			Ports: []corev1.ContainerPort{{ContainerPort: ptr.Deref(config.WorkerPort, 5555)}},
		}},
		Containers: []corev1.Container{{Name: "engine", Image: "engine:1", Args: overrides.Args, Env: overrides.Env}},
	}}
}
