/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workload

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// DefaultMemoryLimit is the memory limit of a store's container, in bytes, when
// the backend says nothing about resources.
const DefaultMemoryLimit int64 = 8 << 30

const (
	defaultMemoryRequest int64 = 4 << 30
	// autoscalingCPU is what is requested, in thousandths of a core, where an
	// autoscaler needs a request to measure against and there is none.
	autoscalingCPU int64 = 250
)

// DefaultResources are the resources of a store's container when the backend says
// nothing about them.
func DefaultResources() corev1.ResourceRequirements {
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceMemory: *resource.NewQuantity(defaultMemoryRequest, resource.BinarySI)},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: *resource.NewQuantity(DefaultMemoryLimit, resource.BinarySI)},
	}
}

// resources returns the resources of a server's container. An empty block asks for
// none and stays empty. With autoscaling a request for CPU is filled in where none
// above zero is given, within the limit that may be there; memory is never.
func resources(backend *v1alpha1.CacheBackend, server Server) corev1.ResourceRequirements {
	wanted := DefaultResources()
	if server.Resources != nil {
		wanted = *server.Resources.DeepCopy()
	}
	if cpu := wanted.Requests[corev1.ResourceCPU]; backend.Spec.Autoscaling == nil || cpu.Sign() > 0 {
		return wanted
	}
	if wanted.Requests == nil {
		wanted.Requests = corev1.ResourceList{}
	}
	request := *resource.NewMilliQuantity(autoscalingCPU, resource.DecimalSI)
	if limit, limited := wanted.Limits[corev1.ResourceCPU]; limited && limit.Cmp(request) < 0 {
		request = limit.DeepCopy() // more is refused, also over a limit of zero
	}
	wanted.Requests[corev1.ResourceCPU] = request
	return wanted
}

// MemoryLimit returns the memory limit in a block of resources, in bytes:
// DefaultMemoryLimit where there is none above zero, also in an explicit block
// that sets no limit.
func MemoryLimit(block *corev1.ResourceRequirements) int64 {
	if block == nil {
		return DefaultMemoryLimit
	}
	if limit := block.Limits.Memory().Value(); limit > 0 {
		return limit
	}
	return DefaultMemoryLimit
}
