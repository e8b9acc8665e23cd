/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workload

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// Labels of every object that is rendered for a backend. The first three select
// its Pods.
const (
	// LabelName is always NameValue.
	LabelName = "app.kubernetes.io/name"
	// LabelInstance is the name of the backend.
	LabelInstance = "app.kubernetes.io/instance"
	// LabelManagedBy is always ManagedByValue.
	LabelManagedBy = "app.kubernetes.io/managed-by"

	// NameValue marks what belongs to a backend.
	NameValue = "cachebackend"
	// ManagedByValue marks what the manager made.
	ManagedByValue = "inference-cache-controller"
)

// Selector returns the labels that select the Pods of a backend's store, in the
// namespace of the backend.
func Selector(backend *v1alpha1.CacheBackend) map[string]string {
	return map[string]string{
		LabelName:      NameValue,
		LabelInstance:  backend.Name,
		LabelManagedBy: ManagedByValue,
	}
}

// Labels returns the labels of the objects of a backend: those that select Pods,
// and its type.
func Labels(backend *v1alpha1.CacheBackend) map[string]string {
	labels := Selector(backend)
	labels[v1alpha1.LabelBackendType] = string(backend.Spec.Type)
	return labels
}

// objectMeta is the metadata of an object of a backend. The backend is its
// controller, which is how the controller tells its own objects from others.
func objectMeta(backend *v1alpha1.CacheBackend, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:      name,
		Namespace: backend.Namespace,
		Labels:    Labels(backend),
		OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(backend, v1alpha1.SchemeGroupVersion.WithKind("CacheBackend")),
		},
	}
}
