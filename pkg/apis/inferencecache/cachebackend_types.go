/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package inferencecache

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Runtime names the inference engine that a CacheBackend serves. Values are
// case-sensitive.
type Runtime string

const (
	// RuntimeVLLM selects vLLM.
	RuntimeVLLM Runtime = "VLLM"
	// RuntimeSGLang selects SGLang.
	RuntimeSGLang Runtime = "SGLang"
)

// CacheBackendType names the cache implementation inside the engine. Remote
// technology and ownership are not part of it: see RemoteStorage.
type CacheBackendType string

const (
	// CacheBackendTypeLMCache wires the engine to LMCache.
	CacheBackendTypeLMCache CacheBackendType = "LMCache"
	// CacheBackendTypeSGLangHiCache uses SGLang's own hierarchical cache.
	CacheBackendTypeSGLangHiCache CacheBackendType = "SGLangHiCache"
)

// DeploymentKind is the kind of workload that runs a managed remote store.
type DeploymentKind string

const (
	// DeploymentKindDeployment runs the store as a Deployment.
	DeploymentKindDeployment DeploymentKind = "Deployment"
	// DeploymentKindStatefulSet runs the store as a StatefulSet.
	DeploymentKindStatefulSet DeploymentKind = "StatefulSet"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CacheBackend declares which engine Pods use which cache tiers: the cache
// inside the engine, an optional remote store behind it, and how the engine is
// wired to both.
type CacheBackend struct {
	metav1.TypeMeta
	// ObjectMeta is the standard object metadata.
	metav1.ObjectMeta
	// Spec is what the operator wants.
	Spec CacheBackendSpec
	// Status is what the controller last saw.
	Status CacheBackendStatus
}

// CacheBackendSpec describes the wanted cache hierarchy. Every field answers
// one question: which engine, which cache in the engine, which store behind it,
// how the two are joined.
type CacheBackendSpec struct {
	// Runtime is the inference engine whose Pods use this backend: VLLM or SGLang.
	Runtime Runtime
	// Type is the cache implementation inside the engine: LMCache or SGLangHiCache.
	Type CacheBackendType
	// LMCache configures LMCache next to the engine.
	LMCache *LMCacheConfig
	// HiCache configures SGLang's own hierarchical cache.
	HiCache *HiCacheConfig
	// RemoteStorage is the optional remote tier.
	RemoteStorage *RemoteStorage
	// Observation says under which model identity the engine's KV events are
	// reported, and how long the first of them may take.
	Observation *ObservationSpec
	// Integration says how engine Pods are wired.
	Integration *IntegrationSpec
	// EngineSelector selects the engine Pods of this namespace that use the
	// backend.
	EngineSelector *EngineSelector
	// DeploymentKind is the kind of workload that runs a managed remote store:
	// Deployment or StatefulSet.
	DeploymentKind DeploymentKind
	// Replicas is the wanted number of Pods of the managed remote store.
	Replicas *int32
	// Autoscaling lets a HorizontalPodAutoscaler set the number of Pods of the
	// managed remote store between two bounds.
	Autoscaling *AutoscalingSpec
	// Template overrides parts of the Pods of the managed remote store.
	Template *PodTemplateOverrides
	// AllowCrossNamespace permits remoteStorage.endpoint to name a Service of
	// another namespace.
	AllowCrossNamespace bool
}

// EngineSelector selects engine Pods by the labels on the Pods themselves, not
// by those of the workload that owns them.
type EngineSelector struct {
	// MatchLabels must all be present on a Pod, with equal values.
	MatchLabels map[string]string
}

// ObservationSpec says how the engine's KV events are observed.
type ObservationSpec struct {
	// ModelID is the model under which the engine's blocks are indexed.
	ModelID string
	// FirstEventTimeout is how long a backend that is otherwise available may go
	// without its first KV event before it counts as degraded.
	FirstEventTimeout *metav1.Duration
}

// AutoscalingSpec bounds the number of Pods of the managed remote store.
type AutoscalingSpec struct {
	// MinReplicas is the lower bound, at least 1.
	MinReplicas *int32
	// MaxReplicas is the upper bound, at least 1 and at least minReplicas.
	MaxReplicas int32
	// TargetCPUUtilizationPercent is the average CPU use, in percent of the
	// request, that scaling aims at: 1 to 100.
	TargetCPUUtilizationPercent *int32
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CacheBackendList is a list of CacheBackends.
type CacheBackendList struct {
	metav1.TypeMeta
	// ListMeta is the standard list metadata.
	metav1.ListMeta
	// Items are the CacheBackends.
	Items []CacheBackend
}
