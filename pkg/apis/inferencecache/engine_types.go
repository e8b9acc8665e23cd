/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package inferencecache

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// LMCacheConfig configures LMCache next to the engine.
type LMCacheConfig struct {
	// ChunkSizeTokens is the number of tokens in one LMCache chunk, at least 1.
	ChunkSizeTokens *int32
	// HostMemory is the budget of the tier in the engine's host memory.
	HostMemory *LMCacheHostMemory
	// WorkerImage is the image of the LMCache worker that runs beside SGLang.
	WorkerImage string
	// WorkerPort is the loopback port on which engine and worker meet, 1 to 65535.
	// 5555 is used when it is absent.
	WorkerPort *int32
	// RemoteSerde names the serialiser that vLLM's LMCache uses towards the remote
	// store.
	RemoteSerde string
}

// LMCacheHostMemory is the budget of LMCache's tier in host memory.
type LMCacheHostMemory struct {
	// Capacity is the size of the tier, greater than zero.
	Capacity *resource.Quantity
}

// HiCacheWritePolicy says when HiCache copies blocks to the host.
type HiCacheWritePolicy string

const (
	// HiCacheWriteBack copies a block when it leaves the accelerator.
	HiCacheWriteBack HiCacheWritePolicy = "write_back"
	// HiCacheWriteThrough copies every block as it is computed.
	HiCacheWriteThrough HiCacheWritePolicy = "write_through"
	// HiCacheWriteThroughSelective copies blocks that are hit often.
	HiCacheWriteThroughSelective HiCacheWritePolicy = "write_through_selective"
)

// HiCacheIOBackend says how HiCache moves blocks between host and accelerator.
type HiCacheIOBackend string

const (
	// HiCacheIODirect copies with the driver's own transfers.
	HiCacheIODirect HiCacheIOBackend = "direct"
	// HiCacheIOKernel copies with an accelerator kernel.
	HiCacheIOKernel HiCacheIOBackend = "kernel"
	// HiCacheIOKernelAscend copies with the kernel for Ascend devices.
	HiCacheIOKernelAscend HiCacheIOBackend = "kernel_ascend"
)

// HiCacheMemoryLayout is the order of HiCache's blocks in host memory.
type HiCacheMemoryLayout string

const (
	// HiCacheLayerFirst orders by layer, then by page.
	HiCacheLayerFirst HiCacheMemoryLayout = "layer_first"
	// HiCachePageFirst orders by page, then by layer.
	HiCachePageFirst HiCacheMemoryLayout = "page_first"
	// HiCachePageFirstDirect is page_first in the form that direct transfers take.
	HiCachePageFirstDirect HiCacheMemoryLayout = "page_first_direct"
	// HiCachePageFirstKVSplit is page_first with keys and values apart.
	HiCachePageFirstKVSplit HiCacheMemoryLayout = "page_first_kv_split"
	// HiCachePageHead orders by page, then by attention head.
	HiCachePageHead HiCacheMemoryLayout = "page_head"
)

// HiCacheConfig configures SGLang's own hierarchical cache. Exactly one of
// sizeGB and ratio gives its size. A field that is absent is not passed to the
// engine, so that the engine's own default stands.
type HiCacheConfig struct {
	// SizeGB is the size of the host tier in GB, at least 1.
	SizeGB *int32
	// Ratio is the size of the host tier as a multiple of the engine's accelerator
	// pool: a finite number greater than zero, written as a string, such as "2.0".
	Ratio string
	// WritePolicy says when blocks are copied to the host: write_back,
	// write_through or write_through_selective.
	WritePolicy HiCacheWritePolicy
	// IOBackend says how blocks are moved: direct, kernel or kernel_ascend.
	IOBackend HiCacheIOBackend
	// MemoryLayout is the order of blocks in host memory: layer_first, page_first,
	// page_first_direct, page_first_kv_split or page_head.
	MemoryLayout HiCacheMemoryLayout
}

// IntegrationMode says which tiers the engine is wired for.
type IntegrationMode string

const (
	// IntegrationModeOffload wires routing and the cache behind the engine.
	IntegrationModeOffload IntegrationMode = "Offload"
	// IntegrationModeEventsOnly wires routing only: the engine's events are
	// reported, no connector is loaded and nothing is provisioned.
	IntegrationModeEventsOnly IntegrationMode = "EventsOnly"
)

// IntegrationRole is the part that the engine plays towards the cache.
type IntegrationRole string

const (
	// IntegrationRoleReadOnly loads blocks and stores none.
	IntegrationRoleReadOnly IntegrationRole = "ReadOnly"
	// IntegrationRoleWriteOnly stores blocks and loads none.
	IntegrationRoleWriteOnly IntegrationRole = "WriteOnly"
	// IntegrationRoleReadWrite does both.
	IntegrationRoleReadWrite IntegrationRole = "ReadWrite"
)

// IntegrationSpec says how engine Pods are wired to the cache.
type IntegrationSpec struct {
	// Mode says which tiers the engine is wired for.
	Mode IntegrationMode
	// Role says whether the engine reads from the cache, writes to it, or both:
	// ReadOnly, WriteOnly or ReadWrite.
	Role IntegrationRole
	// FailOpen says what an engine does when its cache cannot be reached.
	FailOpen *bool
	// EngineOverrides amends the arguments and the environment that are injected
	// into the engine container.
	EngineOverrides *EngineOverrides
	// EngineHostNetwork puts matched engine Pods on their node's network when they
	// are created.
	EngineHostNetwork bool
}

// EngineOverrides amends what is injected into the engine container. It never
// touches what the owner of the Pod wrote, nor the flags and variables without
// which the wiring does not work.
type EngineOverrides struct {
	// Args replace injected arguments with the same leading flag, or are added.
	Args []string
	// SuppressArgs are leading flags that are not injected.
	SuppressArgs []string
	// Env replaces injected variables of the same name, or is added.
	Env []corev1.EnvVar
	// SuppressEnv are names of variables that are not injected.
	SuppressEnv []string
}

// PodTemplateOverrides are the parts of a managed store's Pods that an operator
// may set. Containers are not among them.
type PodTemplateOverrides struct {
	// NodeSelector are the labels that a node must carry.
	NodeSelector map[string]string
	// Affinity are the scheduling constraints.
	Affinity *corev1.Affinity
	// Tolerations are the taints that the Pods tolerate.
	Tolerations []corev1.Toleration
	// TopologySpreadConstraints say how the Pods spread over topology domains.
	TopologySpreadConstraints []corev1.TopologySpreadConstraint
	// ImagePullSecrets are the Secrets of this namespace that images are pulled
	// with.
	ImagePullSecrets []corev1.LocalObjectReference
	// ServiceAccountName is the ServiceAccount that the Pods run as.
	ServiceAccountName string
	// SecurityContext are the security attributes of the Pods.
	SecurityContext *corev1.PodSecurityContext
	// PriorityClassName is the priority class of the Pods.
	PriorityClassName string
	// SchedulerName is the scheduler that places the Pods.
	SchedulerName string
	// RuntimeClassName is the RuntimeClass that runs the Pods.
	RuntimeClassName *string
	// TerminationGracePeriodSeconds is how long the Pods may take to end, in
	// seconds, zero or more.
	TerminationGracePeriodSeconds *int64
}
