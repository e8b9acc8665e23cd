/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Runtime names the inference engine that a CacheBackend serves. Values are
// case-sensitive.
// +enum
type Runtime string

const (
	// RuntimeVLLM selects vLLM.
	RuntimeVLLM Runtime = "VLLM"
	// RuntimeSGLang selects SGLang.
	RuntimeSGLang Runtime = "SGLang"
)

// CacheBackendType names the cache implementation inside the engine. Remote
// technology and ownership are not part of it: see RemoteStorage.
// +enum
type CacheBackendType string

const (
	// CacheBackendTypeLMCache wires the engine to LMCache.
	CacheBackendTypeLMCache CacheBackendType = "LMCache"
	// CacheBackendTypeSGLangHiCache uses SGLang's own hierarchical cache.
	CacheBackendTypeSGLangHiCache CacheBackendType = "SGLangHiCache"
)

// DeploymentKind is the kind of workload that runs a managed remote store.
// +enum
type DeploymentKind string

const (
	// DeploymentKindDeployment runs the store as a Deployment.
	DeploymentKindDeployment DeploymentKind = "Deployment"
	// DeploymentKindStatefulSet runs the store as a StatefulSet.
	DeploymentKindStatefulSet DeploymentKind = "StatefulSet"
)

// +genclient
// +genclient:method=GetScale,verb=get,subresource=scale,result=k8s.io/api/autoscaling/v1.Scale
// +genclient:method=UpdateScale,verb=update,subresource=scale,input=k8s.io/api/autoscaling/v1.Scale,result=k8s.io/api/autoscaling/v1.Scale
// +genclient:method=Probe,verb=create,subresource=probe,input=CacheBackendProbe,result=CacheBackendProbe
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CacheBackend declares which engine Pods use which cache tiers: the cache
// inside the engine, an optional remote store behind it, and how the engine is
// wired to both.
type CacheBackend struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the operator wants.
	Spec CacheBackendSpec `json:"spec"`
	// status is what the controller last saw. It is written through the status
	// subresource only.
	// +optional
	Status CacheBackendStatus `json:"status,omitempty"`
}

// CacheBackendSpec describes the wanted cache hierarchy. Every field answers
// one question: which engine, which cache in the engine, which store behind it,
// how the two are joined.
type CacheBackendSpec struct {
	// runtime is the inference engine whose Pods use this backend: VLLM or
	// SGLang. Values are case-sensitive.
	Runtime Runtime `json:"runtime"`

	// type is the cache implementation inside the engine: LMCache or
	// SGLangHiCache. Remote technology belongs in remoteStorage.provider and its
	// ownership in remoteStorage.ownership. Defaults to LMCache.
	// +optional
	Type CacheBackendType `json:"type,omitempty"`

	// lmCache configures LMCache next to the engine. Only allowed with type
	// LMCache. Ignored in mode EventsOnly, which loads no connector.
	// +optional
	LMCache *LMCacheConfig `json:"lmCache,omitempty"`

	// hiCache configures SGLang's own hierarchical cache. Required with type
	// SGLangHiCache and not allowed with any other.
	// +optional
	HiCache *HiCacheConfig `json:"hiCache,omitempty"`

	// remoteStorage is the optional remote tier. Leaving it out means that blocks
	// stay on the engine's host, and that nothing is provisioned.
	// +optional
	RemoteStorage *RemoteStorage `json:"remoteStorage,omitempty"`

	// observation says under which model identity the engine's KV events are
	// reported, and how long the first of them may take. Filled in when absent.
	// +optional
	Observation *ObservationSpec `json:"observation,omitempty"`

	// integration says how engine Pods are wired. Filled in when absent.
	// +optional
	Integration *IntegrationSpec `json:"integration,omitempty"`

	// engineSelector selects the engine Pods of this namespace that use the
	// backend. Absent or empty, it claims no Pod.
	// +optional
	EngineSelector *EngineSelector `json:"engineSelector,omitempty"`

	// deploymentKind is the kind of workload that runs a managed remote store:
	// Deployment or StatefulSet. Defaults to Deployment.
	// +optional
	DeploymentKind DeploymentKind `json:"deploymentKind,omitempty"`

	// replicas is the wanted number of Pods of the managed remote store. Zero
	// switches the store off. Defaults to 1.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// autoscaling lets a HorizontalPodAutoscaler set the number of Pods of the
	// managed remote store between two bounds.
	// +optional
	Autoscaling *AutoscalingSpec `json:"autoscaling,omitempty"`

	// template overrides parts of the Pods of the managed remote store. Their
	// containers stay with the controller.
	// +optional
	Template *PodTemplateOverrides `json:"template,omitempty"`

	// allowCrossNamespace permits remoteStorage.endpoint to name a Service of
	// another namespace. Host names outside the cluster and IP addresses need no
	// permission. Defaults to false.
	// +optional
	AllowCrossNamespace bool `json:"allowCrossNamespace,omitempty"`
}

// EngineSelector selects engine Pods by the labels on the Pods themselves, not
// by those of the workload that owns them.
type EngineSelector struct {
	// matchLabels must all be present on a Pod, with equal values. An empty map
	// claims no Pod.
	// +optional
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
}

// ObservationSpec says how the engine's KV events are observed.
type ObservationSpec struct {
	// modelID is the model under which the engine's blocks are indexed. Empty
	// means that no event subscriber is added to engine Pods.
	// +optional
	ModelID string `json:"modelID,omitempty"`

	// firstEventTimeout is how long a backend that is otherwise available may go
	// without its first KV event before it counts as degraded. Defaults to 5m.
	// +optional
	FirstEventTimeout *metav1.Duration `json:"firstEventTimeout,omitempty"`
}

// AutoscalingSpec bounds the number of Pods of the managed remote store.
type AutoscalingSpec struct {
	// minReplicas is the lower bound, at least 1. When the backend is first
	// created without it, it is set to replicas; later changes of replicas do
	// not move it.
	// +optional
	MinReplicas *int32 `json:"minReplicas,omitempty"`

	// maxReplicas is the upper bound, at least 1 and at least minReplicas.
	MaxReplicas int32 `json:"maxReplicas"`

	// targetCPUUtilizationPercent is the average CPU use, in percent of the
	// request, that scaling aims at: 1 to 100. The controller uses 80 when it is
	// absent.
	// +optional
	TargetCPUUtilizationPercent *int32 `json:"targetCPUUtilizationPercent,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// CacheBackendList is a list of CacheBackends.
type CacheBackendList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the CacheBackends.
	Items []CacheBackend `json:"items"`
}
