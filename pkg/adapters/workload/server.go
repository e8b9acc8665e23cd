/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workload

import (
	corev1 "k8s.io/api/core/v1"

	"inferencecache.io/inference-cache/pkg/adapters"
	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
)

// Server is what a provider runs.
type Server struct {
	// Provider names the provider. Its declaration among the adapters says whether
	// the store exists once and whether it runs on its node's network.
	Provider v1alpha1.StorageProvider
	// Name names the container.
	Name string
	// Image is the image of the container.
	Image string
	// Command and Args start the server. An empty command is that of the image.
	Command, Args []string
	// Env are variables of the container.
	Env []corev1.EnvVar
	// Resources is the block of the provider in the spec; nil stands for
	// DefaultResources.
	Resources *corev1.ResourceRequirements
	// Ports are the ports of the container. The first is the one that clients dial
	// and that is probed.
	Ports []Port
	// ReadyDelay is the initial delay of the readiness probe, in seconds.
	ReadyDelay int32
	// Scratch gives the container a writable /tmp, which nothing else in it is.
	Scratch bool
	// User is the user and group that the container runs as.
	User int64
	// Password says that the server takes the generated password from the variable
	// PasswordEnv.
	Password bool
	// Egress says that the server may open connections.
	Egress bool
}

// Port is a port of a server.
type Port struct {
	// Name names the port in the container and in the Service.
	Name string
	// Number is the port, 1 to 65535, on both.
	Number int32
	// Private leaves the port out of the Service.
	Private bool
}

// store returns the declaration of a server's provider. A provider that declares
// nothing is the zero Store.
func (s Server) store() adapters.Store {
	for _, store := range adapters.All().Stores {
		if store.Provider == s.Provider {
			return store
		}
	}
	return adapters.Store{}
}

// singleton says whether a store exists once: because its provider says so, or
// because its Pod takes ports of its node.
func (s Server) singleton() bool {
	store := s.store()
	return store.Singleton || store.HostNetwork
}
