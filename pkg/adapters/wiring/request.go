/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package wiring

import (
	"net"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"inferencecache.io/inference-cache/pkg/adapters"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// Request is what an injection depends on besides the Pod. It is only read.
type Request struct {
	// Backend is what the Pod is wired to.
	Backend *v1alpha1.CacheBackend
	// Store is the store behind the engine's cache; nil leaves blocks on the host.
	Store *Store
	// Subscribed says that somebody in the Pod will listen to the engine's events.
	Subscribed bool
	// NativeSidecars says that the cluster keeps init containers running whose restart
	// policy is Always: Kubernetes 1.29 and later.
	NativeSidecars bool
	// OmitLoadFailurePolicy leaves kv_load_failure_policy out, for engines that do not
	// know it.
	OmitLoadFailurePolicy bool
}

// Store is a store as an engine reaches it.
type Store struct {
	// Binding is the protocol.
	Binding adapters.Binding
	// Host and Port are the address.
	Host string
	Port int32
	// Password is where the password is; nil when there is none.
	Password *corev1.SecretKeySelector
}

// Address returns host and port together.
func (s *Store) Address() string {
	return net.JoinHostPort(s.Host, strconv.Itoa(int(s.Port)))
}

// FailOpen tells whether engines may serve without their cache, which is the
// default.
func (r *Request) FailOpen() bool {
	integration := r.Backend.Spec.Integration
	return integration == nil || integration.FailOpen == nil || *integration.FailOpen
}

// Role returns the part that engines play, ReadWrite when none is given.
func (r *Request) Role() v1alpha1.IntegrationRole {
	if integration := r.Backend.Spec.Integration; integration != nil && integration.Role != "" {
		return integration.Role
	}
	return v1alpha1.IntegrationRoleReadWrite
}

// HostNetwork tells whether engines are to run on their node's network.
func (r *Request) HostNetwork() bool {
	return r.Store != nil && r.Backend.Spec.Integration != nil && r.Backend.Spec.Integration.EngineHostNetwork
}

// LMCache returns the settings of LMCache, empty when there are none.
func (r *Request) LMCache() v1alpha1.LMCacheConfig {
	if r.Backend.Spec.LMCache == nil {
		return v1alpha1.LMCacheConfig{}
	}
	return *r.Backend.Spec.LMCache
}

// DefaultChunkSize is the number of tokens in a chunk when none is given: LMCache's
// own default.
const DefaultChunkSize = 256

// ChunkSize returns the number of tokens in a chunk of LMCache.
func (r *Request) ChunkSize() string {
	if size := r.LMCache().ChunkSizeTokens; size != nil {
		return strconv.Itoa(int(*size))
	}
	return strconv.Itoa(DefaultChunkSize)
}

// HostMemory returns the size of the tier in host memory, in GiB rounded up, or
// otherwise if none is given. Given says which.
func (r *Request) HostMemory(otherwise int64) (gib int64, given bool) {
	memory := r.LMCache().HostMemory
	if memory == nil || memory.Capacity == nil {
		return otherwise, false
	}
	const unit = 1 << 30
	bytes := memory.Capacity.Value()
	gib = bytes / unit
	if bytes%unit > 0 {
		gib++
	}
	return gib, true
}

// Gibibytes returns a quantity of so many GiB.
func Gibibytes(n int64) resource.Quantity {
	return *resource.NewQuantity(n<<30, resource.BinarySI)
}
