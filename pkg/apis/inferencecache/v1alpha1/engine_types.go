/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// LMCacheConfig configures LMCache next to the engine.
type LMCacheConfig struct {
	// chunkSizeTokens is the number of tokens in one LMCache chunk, at least 1.
	// LMCache uses 256 when it is absent.
	// +optional
	ChunkSizeTokens *int32 `json:"chunkSizeTokens,omitempty"`

	// hostMemory is the budget of the tier in the engine's host memory.
	// +optional
	HostMemory *LMCacheHostMemory `json:"hostMemory,omitempty"`

	// workerImage is the image of the LMCache worker that runs beside SGLang. The
	// engine's own image is used when it is empty.
	// +optional
	WorkerImage string `json:"workerImage,omitempty"`

	// workerPort is the loopback port on which engine and worker meet, 1 to
	// 65535. 5555 is used when it is absent.
	// +optional
	WorkerPort *int32 `json:"workerPort,omitempty"`

	// remoteSerde names the serialiser that vLLM's LMCache uses towards the
	// remote store. LMCache uses naive when it is empty.
	// +optional
	RemoteSerde string `json:"remoteSerde,omitempty"`
}

// LMCacheHostMemory is the budget of LMCache's tier in host memory.
type LMCacheHostMemory struct {
	// capacity is the size of the tier, greater than zero. It is rounded up to
	// whole GiB. Each runtime has its own default when it is absent.
	// +optional
	Capacity *resource.Quantity `json:"capacity,omitempty"`
}

// HiCacheWritePolicy says when HiCache copies blocks to the host.
// +enum
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
// +enum
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
// +enum
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
	// sizeGB is the size of the host tier in GB, at least 1.
	// +optional
	SizeGB *int32 `json:"sizeGB,omitempty"`

	// ratio is the size of the host tier as a multiple of the engine's
	// accelerator pool: a finite number greater than zero, written as a string,
	// such as "2.0".
	// +optional
	Ratio string `json:"ratio,omitempty"`

	// writePolicy says when blocks are copied to the host: write_back,
	// write_through or write_through_selective.
	// +optional
	WritePolicy HiCacheWritePolicy `json:"writePolicy,omitempty"`

	// ioBackend says how blocks are moved: direct, kernel or kernel_ascend.
	// +optional
	IOBackend HiCacheIOBackend `json:"ioBackend,omitempty"`

	// memoryLayout is the order of blocks in host memory: layer_first,
	// page_first, page_first_direct, page_first_kv_split or page_head.
	// +optional
	MemoryLayout HiCacheMemoryLayout `json:"memoryLayout,omitempty"`
}

// IntegrationMode says which tiers the engine is wired for.
// +enum
type IntegrationMode string

const (
	// IntegrationModeOffload wires routing and the cache behind the engine.
	IntegrationModeOffload IntegrationMode = "Offload"
	// IntegrationModeEventsOnly wires routing only: the engine's events are
	// reported, no connector is loaded and nothing is provisioned.
	IntegrationModeEventsOnly IntegrationMode = "EventsOnly"
)

// IntegrationRole is the part that the engine plays towards the cache.
// +enum
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
	// mode says which tiers the engine is wired for. Offload is routing and the
	// cache behind the engine; EventsOnly is routing alone. Defaults to Offload.
	// +optional
	Mode IntegrationMode `json:"mode,omitempty"`

	// role says whether the engine reads from the cache, writes to it, or both:
	// ReadOnly, WriteOnly or ReadWrite. Defaults to ReadWrite.
	// +optional
	Role IntegrationRole `json:"role,omitempty"`

	// failOpen says what an engine does when its cache cannot be reached. True
	// computes the prompt itself, so that the cache is never needed to serve.
	// False makes the cache a serving dependency. Defaults to true.
	// +optional
	FailOpen *bool `json:"failOpen,omitempty"`

	// engineOverrides amends the arguments and the environment that are injected
	// into the engine container.
	// +optional
	EngineOverrides *EngineOverrides `json:"engineOverrides,omitempty"`

	// engineHostNetwork puts matched engine Pods on their node's network when
	// they are created. Only allowed with the provider Mooncake, whose peers
	// dial each other on ports that no Service declares. Defaults to false.
	// +optional
	EngineHostNetwork bool `json:"engineHostNetwork,omitempty"`
}

// EngineOverrides amends what is injected into the engine container. It never
// touches what the owner of the Pod wrote, nor the flags and variables without
// which the wiring does not work.
type EngineOverrides struct {
	// args replace injected arguments with the same leading flag, or are added.
	// Their order is kept.
	// +optional
	// +listType=atomic
	Args []string `json:"args,omitempty"`

	// suppressArgs are leading flags that are not injected.
	// +optional
	// +listType=set
	SuppressArgs []string `json:"suppressArgs,omitempty"`

	// env replaces injected variables of the same name, or is added.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +patchStrategy=merge
	// +patchMergeKey=name
	Env []corev1.EnvVar `json:"env,omitempty" patchStrategy:"merge" patchMergeKey:"name"`

	// suppressEnv are names of variables that are not injected.
	// +optional
	// +listType=set
	SuppressEnv []string `json:"suppressEnv,omitempty"`
}

// PodTemplateOverrides are the parts of a managed store's Pods that an operator
// may set. Containers are not among them.
type PodTemplateOverrides struct {
	// nodeSelector are the labels that a node must carry.
	// +optional
	// +mapType=atomic
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// affinity are the scheduling constraints.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// tolerations are the taints that the Pods tolerate.
	// +optional
	// +listType=atomic
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// topologySpreadConstraints say how the Pods spread over topology domains.
	// +optional
	// +listType=map
	// +listMapKey=topologyKey
	// +listMapKey=whenUnsatisfiable
	// +patchStrategy=merge
	// +patchMergeKey=topologyKey
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty" patchStrategy:"merge" patchMergeKey:"topologyKey"`

	// imagePullSecrets are the Secrets of this namespace that images are pulled
	// with.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +patchStrategy=merge
	// +patchMergeKey=name
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty" patchStrategy:"merge" patchMergeKey:"name"`

	// serviceAccountName is the ServiceAccount that the Pods run as.
	// +optional
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// securityContext are the security attributes of the Pods.
	// +optional
	SecurityContext *corev1.PodSecurityContext `json:"securityContext,omitempty"`

	// priorityClassName is the priority class of the Pods.
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// schedulerName is the scheduler that places the Pods.
	// +optional
	SchedulerName string `json:"schedulerName,omitempty"`

	// runtimeClassName is the RuntimeClass that runs the Pods.
	// +optional
	RuntimeClassName *string `json:"runtimeClassName,omitempty"`

	// terminationGracePeriodSeconds is how long the Pods may take to end, in
	// seconds, zero or more.
	// +optional
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`
}
